import ChatCore
import ChatStore

/// Sends the user's unread marks when the server can be reached. Unsent marks are kept in the store.
actor UnreadMarks {
    private let client: MatrixClient
    private let store: ChatStore
    private let ownUserID: MemberID
    /// Keeps requests in order, as a mark may be set and removed.
    private let gate = SerialGate()
    /// Whether marks may be waiting to be sent.
    private(set) var hasUnsent = false

    init(client: MatrixClient, store: ChatStore, ownUserID: MemberID) {
        self.client = client
        self.store = store
        self.ownUserID = ownUserID
    }

    /// Call this after changing a mark or after an interruption: the next ``sendUnsent()`` then looks for unsent marks.
    func noteUnsent() { hasUnsent = true }

    /// Sends marks that the server does not have yet.
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

    /// - Returns: whether the server has the mark, or would reject it again.
    private func send(_ isMarked: Bool, of room: RoomID) async -> Bool {
        do {
            try await client.setMarkedUnread(isMarked, in: room, by: ownUserID)
        } catch let error as MatrixError where error.isAboutAccount {
            // It is sent again after the next interruption, not with each sync: the account may be blocked for long.
            return false
        } catch MatrixError.rejected {
            return true
        } catch {
            if (error as? MatrixError)?.isTransient == true { hasUnsent = true }
            return false
        }
        return true
    }
}
