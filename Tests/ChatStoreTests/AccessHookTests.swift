import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(1))) struct AccessHookTests {
    private struct Failure: Error {}

    /// Regression: each call made the next one deeper, until there was no stack left.
    @Test("However often it has run, it runs what it is, once.") func calls() throws {
        let hook = AccessHook()
        for _ in 0..<300_000 { try hook.run() }
        hook.withLock { $0 = { throw Failure() } }
        #expect(throws: Failure.self) { try hook.run() }
        hook.withLock { $0 = {} }
        for _ in 0..<300_000 { try hook.run() }
    }
}
