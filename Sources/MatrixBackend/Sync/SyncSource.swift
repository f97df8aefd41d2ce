/// A sync API of the server.
protocol SyncSource: Sendable {
    /// Returns the changes since `token`, or the whole state without one. Waits up to `wait` for changes.
    /// - Throws: ``MatrixError``, or `CancellationError`.
    func next(after token: String?, wait: Duration) async throws -> SyncUpdate

    /// Returns the token with its room range reset to the window's first rooms.
    func narrowed(_ token: String, to window: SyncWindow) -> String
}
