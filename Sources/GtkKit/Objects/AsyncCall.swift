public import CGtk

/// Adapts closures to GAsyncReadyCallback.
public enum AsyncCall {
    public typealias Done = @MainActor (_ source: UnsafeMutableRawPointer?, _ result: OpaquePointer?) -> Void

    /// Starts an asynchronous GIO call; `done` receives its source object and result. GIO guarantees exactly one
    /// callback.
    public static func start(_ call: (@escaping GAsyncReadyCallback, gpointer) -> Void, _ done: @escaping Done) {
        let box = Unmanaged.passRetained(ClosureBox<Done>(done)).toOpaque()
        call(
            { source, result, data in
                nonisolated(unsafe) let (source, result, data) = (source, result, data)
                MainActor.assumeIsolated {
                    guard let data else { return }
                    let done = Unmanaged<ClosureBox<Done>>.fromOpaque(data).takeRetainedValue().closure
                    done(source.map { UnsafeMutableRawPointer($0) }, result)
                }
            }, box)
    }
}
