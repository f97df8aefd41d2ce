/// Overrides libde265's function of this name, through which libheif requests worker threads despite its settings. The
/// confinement forbids threads, and libde265 would wait for them forever; without any it decodes on the calling thread.
@_cdecl("de265_start_worker_threads")
public func startNoWorkerThreads(_ decoder: UnsafeMutableRawPointer?, _ count: CInt) -> CInt { 0 }
