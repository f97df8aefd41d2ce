/// A sync API of the server.
protocol SyncSource: Sendable {
    /// Returns the changes since `token`, or the whole state without one. Waits up to `wait` for changes.
    /// - Throws: ``MatrixError``, or `CancellationError`.
    func next(after token: String?, wait: Duration) async throws -> SyncUpdate

    /// Returns the token with its room range reset to the window's first rooms.
    func narrowed(_ token: String, to window: SyncWindow) -> String
}

/// The timeouts of sync requests. A catch-up over a slow connection takes minutes, but data arrive all the time.
enum SyncTimeout {
    /// The longest time without data, for a request whose response the server may delay by `wait`.
    static func idle(_ wait: Duration) -> Duration { wait + .seconds(60) }
    /// The same for the first plain sync, for which servers collect all rooms before they respond.
    static let firstIdle = Duration.seconds(300)
    /// The time until the end of the response.
    static func total(_ wait: Duration) -> Duration { wait + .seconds(900) }
}
