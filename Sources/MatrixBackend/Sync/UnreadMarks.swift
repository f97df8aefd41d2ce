import ChatCore
import ChatStore

/// Sends which rooms the user has marked as unread, as soon as the server can be reached. Unsent marks are kept in the
/// store.
actor UnreadMarks {
    private let client: MatrixClient
    private let store: ChatStore
    private let ownUserID: MemberID
    /// One request at a time: a mark that was set and removed must arrive in this order.
    private let gate = SerialGate()
    /// Whether marks may be waiting to be sent.
    private(set) var hasUnsent = false

    init(client: MatrixClient, store: ChatStore, ownUserID: MemberID) {
        self.client = client
        self.store = store
        self.ownUserID = ownUserID
    }

    /// Makes the next ``sendUnsent()`` look for unsent marks: one was changed, or the connection was interrupted.
    func noteUnsent() { hasUnsent = true }

    /// Sends the marks that the server does not have yet.
    func sendUnsent() async {
        await gate.runEvenIfCanceled {
            guard hasUnsent else { return }
            hasUnsent = false
            do {
                for (room, isMarked) in try await store.unsentUnreadMarks() {
                    if await send(isMarked, of: room) { try await store.noteSentUnreadMark(isMarked, of: room) }
                }
            } catch {
                hasUnsent = true
            }
        }
    }

    /// - Returns: whether the server has the mark, or would reject a retry as well.
    private func send(_ isMarked: Bool, of room: RoomID) async -> Bool {
        do {
            try await client.setMarkedUnread(isMarked, in: room, by: ownUserID)
        } catch MatrixError.rejected {
            return true
        } catch {
            if (error as? MatrixError)?.isTransient == true { hasUnsent = true }
            return false
        }
        return true
    }
}
