import Synchronization

/// What runs before each access to a database, for tests in which one fails.
///
/// Its closure is in a struct: a mutex of a bare closure wraps it in another each time that it is locked, and so each
/// access would cost as much as there were before it.
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
