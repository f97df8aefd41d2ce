import Synchronization

/// Called before each database access, so that tests can make one fail.
///
/// The closure is in a struct: a mutex of a bare closure wraps it once more on each lock, which makes each access more
/// expensive than the last.
final class AccessHook: Sendable {
    private struct Body {
        var run: @Sendable () throws -> Void
    }

    private let body = Mutex(Body(run: {}))

    func run() throws { try body.withLock { $0.run }() }

    func withLock<Result: Sendable>(
        _ change: (inout @Sendable () throws -> Void) throws -> Result
    ) rethrows -> Result {
        try body.withLock { body in try change(&body.run) }
    }
}
