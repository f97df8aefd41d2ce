import ChatCore
import ChatStore

/// A first sync tells which rooms there are, and not which there were: where one follows on what is kept, such as after
/// the server lost the position, what was left elsewhere meanwhile would be kept for good.
extension MatrixBackend {
    private static let uncertainSetting = "matrix.uncertainRooms"

    /// Before such a sync: what is entered from then on is not among them.
    func noteKeptRooms() async throws {
        guard uncertainRooms == nil else { return }
        let kept = try await keptRooms()
        guard !kept.isEmpty else { return }
        try await store.setSetting("1", for: Self.uncertainSetting)
        uncertainRooms = kept
    }

    /// As ``noteKeptRooms()``, if the application ended before that sync did.
    func recallKeptRooms() async throws {
        if try await store.setting(Self.uncertainSetting) == "1" { uncertainRooms = try await keptRooms() }
    }

    /// After such a sync: asks the server which rooms the user is in, and leaves the others.
    func leaveLeftRooms() async {
        guard let uncertain = uncertainRooms else { return }
        var gone: Set<RoomID> = []
        do {
            // Each by itself too: what is kept of a room is gone with it, and a list may be short by mistake.
            for room in uncertain.subtracting(try await client.joinedRooms()) where try await isOutside(room) {
                gone.insert(room)
            }
        } catch MatrixError.refused {
            // It will not say it the next time either.
            gone = []
        } catch {
            return
        }
        try? await inTurn {
            // One that the sync made an invitation is none that is left.
            let left = try await keptRooms().intersection(gone)
            let rooms = left.map { room in
                var left = RoomBatch(id: room, createdAt: now())
                left.isLeft = true
                return left
            }
            let batch = SyncBatch(rooms: rooms, settings: [Self.uncertainSetting: ""])
            for outcome in try await store.apply(batch) { await tell(outcome) }
            uncertainRooms = nil
            if !rooms.isEmpty { roomsChanged() }
        }
    }

    private func keptRooms() async throws -> Set<RoomID> { Set(try await store.roomSummaries().map(\.id)) }
}
