import ChatOutbox

/// Whether the server can be reached, which the outbox, the read markers and the unread marks depend on.
///
/// An actor, so that the outbox receives changes in order.
actor ConnectionState {
    private let feed = ValueFeed(MatrixBackend.Connection.connecting)
    private let outbox: Outbox
    private let readMarkers: ReadMarkers
    private let unreadMarks: UnreadMarks
    private let directRooms: DirectRoomList

    init(outbox: Outbox, readMarkers: ReadMarkers, unreadMarks: UnreadMarks, directRooms: DirectRoomList) {
        self.outbox = outbox
        self.unreadMarks = unreadMarks
        self.readMarkers = readMarkers
        self.directRooms = directRooms
    }

    nonisolated var current: MatrixBackend.Connection { feed.value }

    /// The current state, then each change.
    nonisolated func states() -> AsyncStream<MatrixBackend.Connection> { feed.values() }

    /// - Returns: Whether that was not the state before.
    @discardableResult
    func set(_ new: MatrixBackend.Connection) async -> Bool {
        guard feed.set(new) else { return false }
        await outbox.setOnline(new == .online || new == .connecting)
        guard new == .online else { return true }
        await readMarkers.noteInterruption()
        await unreadMarks.noteUnsent()
        await directRooms.noteUnsent()
        return true
    }

    /// Sets the state that the sync found.
    /// - Returns: Whether the server can be reached again.
    @discardableResult
    func setFound(_ new: MatrixBackend.Connection) async -> Bool {
        // A loop that was stopped says nothing about the current connection.
        guard !Task.isCancelled else { return false }
        let hasChanged = await set(new)
        guard new == .online else { return false }
        Task { [readMarkers, unreadMarks, directRooms] in
            await readMarkers.sendUnsent()
            await unreadMarks.sendUnsent()
            await directRooms.sendUnsent()
        }
        return hasChanged
    }

    /// Starts connecting with the token of another session.
    func begin(with token: AccessToken, in credential: Credential) async {
        // Without a suspension in between: a rejection of the earlier token comes before both, or is ignored.
        credential.token = token
        await set(.connecting)
    }

    /// Ends the session whose token the server rejected, unless another one has begun.
    func end(_ rejection: Credential.Rejection, of credential: Credential) async {
        guard rejection.token == credential.token else { return }
        await set(.signedOut(isSoft: rejection.isSoft))
    }

    /// Starts connecting again.
    /// - Returns: `false` if the session has ended.
    func reconnect() async -> Bool {
        if case .signedOut = current { return false }
        await set(.connecting)
        return true
    }

    /// Ends all streams. The state does not change any more.
    nonisolated func finish() { feed.finish() }
}
