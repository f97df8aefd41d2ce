import ChatCore
import JSONReading

/// The user's list of direct chats on the server, `m.direct`, which all their clients share.
struct DirectRoomList: Sendable {
    let client: MatrixClient
    let context: AccountContext
    /// One addition at a time: each replaces the whole list.
    private let gate = SerialGate()

    init(client: MatrixClient, context: AccountContext) {
        self.client = client
        self.context = context
    }

    /// Requests the list: another client of the user may have changed it since the last sync.
    func current() async throws -> DirectRooms {
        DirectRooms(.object(try await client.directRooms(of: context.ownUserID)))
    }

    /// Adds a room. Errors are ignored: the room works without being listed.
    func add(_ room: RoomID, with user: String) async {
        try? await gate.run {
            guard let changed = try await current().adding(room, with: user) else { return }
            context.directRooms = changed
            try await client.setDirectRooms(changed.json.object ?? [:], of: context.ownUserID)
        }
    }
}
