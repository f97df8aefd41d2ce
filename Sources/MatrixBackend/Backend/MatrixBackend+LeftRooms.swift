import ChatCore
import ChatStore

/// A first sync tells which rooms there are, and not which there were: where one follows on what is kept, such as after
/// the server lost the position, what was left elsewhere meanwhile would be kept for good.
extension MatrixBackend {
    private static let uncertainSetting = "matrix.uncertainRooms"

    /// Before such a sync: what is entered from then on is not among them.
    func noteStoredRooms() async throws {
        guard uncertainRooms == nil else { return }
        let stored = try await storedRooms()
        guard !stored.isEmpty else { return }
        try await store.setSetting("1", for: Self.uncertainSetting)
        uncertainRooms = stored
    }

    /// As ``noteStoredRooms()``, if the application ended before that sync did.
    func recallStoredRooms() async throws {
        if try await store.setting(Self.uncertainSetting) == "1" { uncertainRooms = try await storedRooms() }
    }

    /// After such a sync: asks the server which rooms the user is in, and leaves the others.
    func pruneLeftRooms() async {
        guard let uncertain = uncertainRooms else { return }
        var notJoined: Set<RoomID> = []
        do {
            // Each by itself too: what is kept of a room is gone with it, and a list may be short by mistake.
            for room in uncertain.subtracting(try await client.joinedRooms()) where try await isOutside(room) {
                notJoined.insert(room)
            }
        } catch MatrixError.rejected {
            // It will not say it the next time either.
            notJoined = []
        } catch {
            return
        }
        try? await serialized {
            // One that the sync made an invitation is none that is left.
            let leftRooms = try await storedRooms().intersection(notJoined)
            let rooms = leftRooms.map { room in
                var roomBatch = RoomBatch(id: room, createdAt: now())
                roomBatch.isLeft = true
                return roomBatch
            }
            let batch = SyncBatch(rooms: rooms, settings: [Self.uncertainSetting: ""])
            for roomChange in try await store.apply(batch) { await publish(roomChange) }
            uncertainRooms = nil
            if !rooms.isEmpty { roomsChanged() }
        }
    }

    private func storedRooms() async throws -> Set<RoomID> { Set(try await store.roomSummaries().map(\.id)) }
}
