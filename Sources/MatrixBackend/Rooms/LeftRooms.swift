import ChatCore
import ChatStore

/// Removes rooms that the user left in another client.
///
/// An initial sync lists the joined rooms, not those left meanwhile. After the server has dropped the sync token, rooms
/// that the user left in another client would stay in the store forever.
actor LeftRooms {
    private static let uncertainSetting = "matrix.uncertainRooms"

    private let client: MatrixClient
    private let context: AccountContext
    private let writer: RoomWriter
    private let entered: EnteredRooms
    /// Stored rooms that the user may have left unnoticed; `nil` if there are none.
    private var uncertain: Set<RoomID>?
    /// Rooms that the user may have left after joining them (``EnteredRooms/addDoubtful(_:)``).
    private var doubtful: Set<RoomID> = []

    private var store: ChatStore { writer.store }

    init(client: MatrixClient, context: AccountContext, writer: RoomWriter, entered: EnteredRooms) {
        self.client = client
        self.context = context
        self.writer = writer
        self.entered = entered
    }

    /// Records the stored rooms before an initial sync; rooms that are joined later are not candidates for removal.
    func noteStored() async throws {
        guard uncertain == nil else { return }
        let stored = try await storedRooms()
        guard !stored.isEmpty else { return }
        try await store.setSetting("1", for: Self.uncertainSetting)
        uncertain = stored
    }

    /// Restores the state of ``noteStored()`` if the application ended before that sync completed.
    func recallStored() async throws {
        if try await store.setting(Self.uncertainSetting) == "1" { uncertain = try await storedRooms() }
    }

    /// Adds rooms of which an update was left out.
    func noteDoubtful(_ rooms: Set<RoomID>) { doubtful.formUnion(rooms) }

    /// After such a sync, removes stored rooms that the user has left according to the server.
    func prune() async {
        guard uncertain != nil || !doubtful.isEmpty else { return }
        let candidates = doubtful.union(uncertain ?? [])
        let enteredBefore = candidates.filter { entered.isNewer($0) }
        var notJoined: Set<RoomID> = []
        do {
            // Confirm each room separately: removal deletes its history, and the list may be incomplete by mistake.
            for room in candidates.subtracting(try await client.joinedRooms())
            where try await client.isOutside(room, context.ownUserID) {
                notJoined.insert(room)
            }
        } catch MatrixError.rejected {
            // That says nothing of the rooms. A retry with each sync may be rejected for long, so the next start of the
            // program does it.
            // The doubtful ones are among all stored rooms.
            if !doubtful.isEmpty { try? await store.setSetting("1", for: Self.uncertainSetting) }
            (uncertain, doubtful) = (nil, [])
            return
        } catch {
            return
        }
        // If that fails, the next sync that catches up tries again.
        try? await remove(notJoined, of: candidates, enteredBefore: enteredBefore)
    }

    /// - Parameter enteredBefore: Those that the user had entered before the server was asked, but not before the sync.
    private func remove(
        _ notJoined: Set<RoomID>, of candidates: Set<RoomID>, enteredBefore: Set<RoomID>
    ) async throws {
        try await writer.serialized {
            // Rooms that became invitations are no longer stored rooms, and the user may have entered others meanwhile.
            let leftRooms = try await storedRooms().intersection(notJoined)
                .filter { enteredBefore.contains($0) || !entered.isNewer($0) }
            let rooms = leftRooms.map { RoomBatch.left($0, at: context.now()) }
            // Without asking about the uncertain rooms, they stay for the next start.
            let settings = uncertain == nil ? [:] : [Self.uncertainSetting: ""]
            try await writer.write(SyncBatch(rooms: rooms, settings: settings))
            uncertain = nil
            doubtful.subtract(candidates)
            if !rooms.isEmpty { writer.rooms.refresh(.only(Set(rooms.map(\.id)))) }
        }
    }

    private func storedRooms() async throws -> Set<RoomID> { Set(try await store.roomSummaries().map(\.id)) }
}
