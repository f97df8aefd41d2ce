/// Stands before libde265's function of the same name, by which libheif asks for a thread whatever it was told. The
/// confinement lets no thread start, and libde265 would wait for it for ever; without one it decodes in its caller's.
@_cdecl("de265_start_worker_threads")
public func startNoWorkerThreads(_ decoder: UnsafeMutableRawPointer?, _ count: CInt) -> CInt { 0 }
