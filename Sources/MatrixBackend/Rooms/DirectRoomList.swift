import ChatCore
import ChatStore
import Foundation
import JSONReading

/// The user's list of direct chats on the server, `m.direct`, which all their clients share. Additions that the server
/// does not have yet are in the store.
struct DirectRoomList: Sendable {
    /// The setting that stores the additions, as ``DirectRooms/json``.
    private static let setting = "matrix.direct.unsent"

    let client: MatrixClient
    let context: AccountContext
    let store: ChatStore
    /// One addition at a time: each replaces the whole list.
    private let gate = SerialGate()

    init(client: MatrixClient, context: AccountContext, store: ChatStore) {
        self.client = client
        self.context = context
        self.store = store
    }

    /// Requests the list: another client of the user may have changed it since the last sync.
    /// - Returns: the list with the additions that the server does not have yet.
    func current() async throws -> DirectRooms {
        let listed = DirectRooms(.object(try await client.directRooms(of: context.ownUserID)))
        return listed.adding(try await unsent())
    }

    /// Adds a room. Errors are ignored: the room works without being listed, and is added later.
    func add(_ room: RoomID, with user: String) async {
        try? await gate.run {
            let before = try await unsent()
            let additions = before.adding(room, with: user) ?? before
            // Before the server is asked, which may not answer.
            try? await store.setSetting(additions.text, for: Self.setting)
            try await send(additions)
        }
    }

    /// Adds what could not be added before.
    func sendUnsent() async {
        try? await gate.run {
            let additions = try await unsent()
            if additions != DirectRooms() { try await send(additions) }
        }
    }

    private func send(_ additions: DirectRooms) async throws {
        context.directRooms = context.directRooms.adding(additions)
        let listed = DirectRooms(.object(try await client.directRooms(of: context.ownUserID)))
        let changed = listed.adding(additions)
        context.directRooms = changed
        if changed != listed {
            try await client.setDirectRooms(changed.json.object ?? [:], of: context.ownUserID)
        }
        try await store.setSetting(DirectRooms().text, for: Self.setting)
    }

    private func unsent() async throws -> DirectRooms {
        guard let text = try await store.setting(Self.setting), let json = try? JSONValue(parsing: Data(text.utf8))
        else { return DirectRooms() }
        return DirectRooms(json)
    }
}

extension DirectRooms {
    fileprivate var text: String { (try? json.encoded()).map { String(decoding: $0, as: UTF8.self) } ?? "{}" }
}
