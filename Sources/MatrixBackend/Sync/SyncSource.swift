/// One of the ways to ask a server what is new.
protocol SyncSource: Sendable {
    /// What is new since `token`, or all of it without one; waits at most for `wait` if nothing is.
    /// - Throws: ``MatrixError``, or `CancellationError`.
    func next(after token: String?, wait: Duration) async throws -> SyncUpdate

    /// The token with which the same is asked for beginning with as few rooms as of a portion.
    func narrowed(_ token: String, to window: SyncWindow) -> String
}
