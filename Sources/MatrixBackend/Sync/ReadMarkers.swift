import ChatCore
import ChatStore

/// Sends the user's read markers to the server as soon as it can be reached. Unsent markers are stored.
actor ReadMarkers {
    private let client: MatrixClient
    private let store: ChatStore
    private let privacy: PrivacyPreference
    private let ownUserID: MemberID
    /// Whether markers may be waiting to be sent.
    private(set) var hasUnsent = false
    /// The rooms of which a marker is being sent, and those that are sent next there.
    private var sending: Set<RoomID> = []
    private var next: [RoomID: (message: MessageID, latest: MessageID?)] = [:]
    /// The latest events of markers that the server has not accepted yet, for the next attempt.
    private var unsentLatest: [RoomID: (message: MessageID, latest: MessageID)] = [:]

    init(client: MatrixClient, store: ChatStore, ownUserID: MemberID, privacy: PrivacyPreference = PrivacyPreference())
    {
        self.privacy = privacy
        self.ownUserID = ownUserID
        self.client = client
        self.store = store
    }

    /// Sends a marker that is stored as unsent, which it remains until the server has accepted it. Of a room, one is sent
    /// at a time, and only the last one that is stored: some servers let a marker move backwards.
    /// - Parameter latest: The latest event, if it changes the message or others before it (``LatestEvents``).
    func send(_ message: MessageID, in room: RoomID, through latest: MessageID? = nil) async {
        unsentLatest[room] = latest.map { (message: message, latest: $0) }
        await enqueue(message, in: room, through: latest)
    }

    private func enqueue(_ message: MessageID, in room: RoomID, through latest: MessageID?) async {
        next[room] = (message, latest)
        guard sending.insert(room).inserted else { return }
        defer { sending.remove(room) }
        while let marker = next.removeValue(forKey: room) {
            do {
                let stored = try await store.unsentReadMarker(of: room)
                guard stored == marker.message else {
                    // The call for the one that is stored may have come before this one, which has replaced it in
                    // `next`.
                    if stored != nil { hasUnsent = true }
                    continue
                }
            } catch {
                // One that cannot be read is sent.
            }
            await post(marker.message, in: room, through: marker.latest)
        }
    }

    private func post(_ message: MessageID, in room: RoomID, through latest: MessageID?) async {
        do {
            try await client.markRead(
                latest ?? message, in: room, isPrivate: !privacy.current(of: ownUserID).sharesReadReceipts)
        } catch let error as MatrixError where error.isAboutAccount {
            // It is sent again after the next interruption, not with each sync: the account may be blocked for long.
            return
        } catch MatrixError.rejected where latest != nil {
            return await post(message, in: room, through: nil)
        } catch MatrixError.rejected {
            // The server would reject a retry as well.
        } catch {
            if (error as? MatrixError)?.isTransient == true { hasUnsent = true }
            return
        }
        if unsentLatest[room]?.message == message { unsentLatest[room] = nil }
        // If that fails, the same marker is sent once more, which changes nothing.
        try? await store.removeUnsentReadMarker(message, of: room)
    }

    /// Makes the next ``sendUnsent()`` look for unsent markers, because the connection was interrupted.
    func noteInterruption() { hasUnsent = true }

    /// Sends the markers that were set while the server was unreachable.
    func sendUnsent() async {
        guard hasUnsent else { return }
        hasUnsent = false
        do {
            // One that waits was set later than what was read.
            for (room, message) in try await store.unsentReadMarkers() where next[room] == nil {
                let unsent = unsentLatest[room]
                await enqueue(message, in: room, through: unsent?.message == message ? unsent?.latest : nil)
            }
        } catch {
            hasUnsent = true
        }
    }
}
