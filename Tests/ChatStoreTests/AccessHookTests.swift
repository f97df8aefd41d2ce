import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(10))) struct AccessHookTests {
    private struct Failure: Error {}

    /// Regression: each call nested the next one more deeply, until the stack overflowed.
    @Test("However often it has run, the hook calls its current handler, once per run.") func calls() throws {
        let hook = AccessHook()
        for _ in 0..<300_000 { try hook.run() }
        hook.withLock { $0 = { throw Failure() } }
        #expect(throws: Failure.self) { try hook.run() }
        hook.withLock { $0 = {} }
        for _ in 0..<300_000 { try hook.run() }
    }
}
