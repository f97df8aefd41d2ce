public import CGtk

/// A closure as a GAsyncReadyCallback.
public enum AsyncCall {
    public typealias Done = @MainActor (_ source: UnsafeMutableRawPointer?, _ result: OpaquePointer?) -> Void

    /// Starts an asynchronous call of GIO's, whose source and result go to `done`: once, as GIO promises.
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
