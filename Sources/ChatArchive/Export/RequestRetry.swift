import ChatCore

/// Repeats requests that the server rejects because it limits their rate.
struct RequestRetry {
    /// How long to wait before each repetition. A server that still rejects a request then is left alone.
    static let delays: [Duration] = [.seconds(5), .seconds(10), .seconds(20), .seconds(30), .seconds(60)]

    let clock: any Clock<Duration>

    /// - Throws: the error of `work`, or `CancellationError`.
    func run<T>(_ work: () async throws -> T) async throws -> T {
        for delay in Self.delays {
            do {
                return try await work()
            } catch ChatError.busy {
                try await clock.sleep(for: delay, tolerance: nil)
            }
        }
        return try await work()
    }
}
