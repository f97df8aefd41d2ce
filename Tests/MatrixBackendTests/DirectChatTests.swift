import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Opening direct chats before a sync has brought them.
@Suite(.timeLimit(.minutes(10))) struct DirectChatTests {
    private let partner = "@ann:example.org"
    private let listed = RoomID("!listed:example.org")
    private let made = RoomID("!made:example.org")

    /// - Parameter membership: That of the user in the listed room; `nil` if the server does not answer.
    private func transport(membership: String?, isUpgraded: Bool = false) -> FakeTransport {
        FakeTransport.responding { [partner, listed, made] request in
            let path = request.url.path
            if path.hasSuffix("/m.direct") {
                return request.method == .get ? .object([partner: [.string(listed.rawValue)]]) : [:]
            }
            if path.contains("/m.room.member/") {
                if path.contains(partner) { return ["membership": "join"] }
                guard let membership else { return ["errcode": "M_UNKNOWN", "status": 502] }
                return ["membership": .string(membership)]
            }
            if path.contains("/m.room.tombstone") { return isUpgraded ? ["body": "Moved"] : nil }
            return path.hasSuffix("/createRoom") ? ["room_id": .string(made.rawValue)] : nil
        }
    }

    private func chats(_ parts: AccountParts) -> DirectChats {
        let list = DirectRoomList(client: parts.client, context: parts.context, store: parts.store)
        let entry = RoomEntry(
            client: parts.client, context: parts.context, writer: parts.writer, entered: EnteredRooms(),
            directRooms: list, keys: parts.keys)
        return DirectChats(
            client: parts.client, store: parts.store, ownUserID: AccountParts.own, list: list,
            invitations: parts.writer.invitations, entry: entry, keys: parts.keys,
            privacy: PrivacyPreference(Privacy(encryptsDirectChats: false)))
    }

    @Test(
        "A listed chat that no sync has brought yet is opened, unless the user has left it or it was upgraded",
        arguments: [("join", false), ("leave", false), ("join", true)])
    func unsynced(membership: String, isUpgraded: Bool) async throws {
        let transport = transport(membership: membership, isUpgraded: isUpgraded)
        let parts = try await AccountParts.make(transport.client)
        let opened = try await chats(parts).open(with: partner)
        let isReused = membership == "join" && !isUpgraded
        #expect(opened == (isReused ? listed : made))
        #expect(try await parts.store.hasRoom(opened))
        #expect(transport.requests.contains { $0.url.path.hasSuffix("/createRoom") } != isReused)
        await parts.store.close()
    }

    @Test("No other chat is created while the server does not say whether the user is in a listed one")
    func unansweredQuestion() async throws {
        let transport = transport(membership: nil)
        let parts = try await AccountParts.make(transport.client)
        await #expect(throws: ChatError.unreachable) { try await chats(parts).open(with: partner) }
        #expect(!transport.requests.contains { $0.url.path.hasSuffix("/createRoom") })
        await parts.store.close()
    }

    @Test("A list that a sync brings while a chat is added is neither replaced nor lost", arguments: [true, false])
    func syncedMeanwhile(isReading: Bool) async throws {
        let server = Mutex<JSONValue>([:])
        let synced = Mutex<AccountParts?>(nil)
        let transport = FakeTransport.responding { request in
            guard (request.method == .get) == isReading else { return }
            let parts = synced.withLock { parts in
                defer { parts = nil }
                return parts
            }
            guard let parts else { return }
            // Between the response and its arrival, another client adds a chat, and a sync says so.
            let list: JSONValue = server.withLock { list in
                var rooms = list.object ?? [:]
                rooms["@bob:example.org"] = ["!other:example.org"]
                list = .object(rooms)
                return list
            }
            var (update, batch) = (SyncUpdate(token: "s"), SyncBatch())
            update.direct = list
            parts.context.apply(update, storing: &batch)
        } _: { request in
            guard case .json(let body) = request.body else { return server.withLock { $0 } }
            server.withLock { $0 = (try? JSONValue(parsing: body)) ?? .null }
            return [:]
        }
        let parts = try await AccountParts.make(transport.client)
        synced.withLock { $0 = parts }
        let list = DirectRoomList(client: parts.client, context: parts.context, store: parts.store)
        await list.add(listed, with: partner)
        let both = JSONValue.object(
            ["@bob:example.org": ["!other:example.org"], partner: [.string(listed.rawValue)]])
        #expect(server.withLock { $0 } == both)
        #expect(parts.context.directRooms == DirectRooms(both))
        #expect(parts.context.unlistedDirectRooms == DirectRooms())
        #expect(await !list.hasUnsent)
        await parts.store.close()
    }
}
