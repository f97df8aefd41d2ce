import ChatCore
import ChatStore

/// An initial sync lists the joined rooms, not those left meanwhile. After the server has dropped the sync token, rooms
/// that the user left in another client would stay in the store forever.
extension MatrixBackend {
    private static let uncertainSetting = "matrix.uncertainRooms"

    /// Records the stored rooms before an initial sync; rooms that are joined later are not candidates for removal.
    func noteStoredRooms() async throws {
        guard uncertainRooms == nil else { return }
        let stored = try await storedRooms()
        guard !stored.isEmpty else { return }
        try await store.setSetting("1", for: Self.uncertainSetting)
        uncertainRooms = stored
    }

    /// Restores the state of ``noteStoredRooms()`` if the application ended before that sync completed.
    func recallStoredRooms() async throws {
        if try await store.setting(Self.uncertainSetting) == "1" { uncertainRooms = try await storedRooms() }
    }

    /// After such a sync, removes stored rooms that the user has left according to the server.
    func pruneLeftRooms() async {
        guard let uncertain = uncertainRooms else { return }
        var notJoined: Set<RoomID> = []
        do {
            // Confirm each room separately: removal deletes its history, and the list may be incomplete by mistake.
            for room in uncertain.subtracting(try await client.joinedRooms()) where try await isOutside(room) {
                notJoined.insert(room)
            }
        } catch MatrixError.rejected {
            // The server would reject a retry as well.
            notJoined = []
        } catch {
            return
        }
        // If that fails, the next sync that catches up tries again.
        try? await serialized {
            // Rooms that became invitations are no longer stored rooms.
            let leftRooms = try await storedRooms().intersection(notJoined)
            let rooms = leftRooms.map { RoomBatch.left($0, at: now()) }
            let batch = SyncBatch(rooms: rooms, settings: [Self.uncertainSetting: ""])
            for roomChange in try await store.apply(batch) { await publish(roomChange) }
            uncertainRooms = nil
            if !rooms.isEmpty { roomsChanged() }
        }
    }

    private func storedRooms() async throws -> Set<RoomID> { Set(try await store.roomSummaries().map(\.id)) }
}
