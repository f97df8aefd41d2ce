import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Testing
import ToolSupport

@testable import MatrixBackend

/// State on which the secrecy of messages depends, in events that cannot be read.
@Suite(.timeLimit(.minutes(10))) struct UnreadableStateTests {
    private static let room = RoomID("!room:example.org")
    private static let own = "@me:example.org"
    private static let ann = "@ann:example.org"
    private static let creation = Events.event("$create", "m.room.create", [:], stateKey: "")
    private static let encryption = Events.event(
        "$crypt", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: "")
    private let folder = TemporaryFolder()

    /// Members that make an event unreadable.
    private static let oddities: [(String, JSONValue)] = [
        ("origin_server_ts", .number(1.5)), ("origin_server_ts", "1000"), ("sender", "ann"),
        ("sender", .string("@" + String(repeating: "a", count: 255) + ":b")), ("event_id", .null), ("content", .null),
        ("state_key", 5),
    ]

    private static func odd(
        _ event: JSONValue, _ name: String = "origin_server_ts", _ value: JSONValue = .number(1.5)
    ) -> JSONValue {
        var members = event.object ?? [:]
        members[name] = value
        return .object(members)
    }

    private func plain(_ section: String, _ room: JSONValue) throws -> SyncUpdate {
        let rooms: JSONValue = .object([section: .object([Self.room.rawValue: room])])
        return try PlainSync.read(["next_batch": "s2", "rooms": rooms], since: "s1")
    }

    private func sliding(_ room: JSONValue) throws -> SyncUpdate {
        try SlidingSync.read(["pos": "5", "rooms": .object([Self.room.rawValue: room])])
    }

    /// The updates of either API in which the events are in a timeline.
    private func timelines(_ events: JSONValue) throws -> [SyncUpdate] {
        [try plain("join", ["timeline": ["events": events]]), try sliding(["timeline": events])]
    }

    /// The updates of either API in which the events are state.
    private func states(_ events: JSONValue) throws -> [SyncUpdate] {
        [try plain("join", ["state": ["events": events]]), try sliding(["required_state": events])]
    }

    // MARK: Encryption

    @Test("A room is encrypted even if nothing else of the event that says so can be read", arguments: oddities)
    func encryptionWhateverElse(name: String, value: JSONValue) throws {
        let event = Self.odd(Self.encryption, name, value)
        #expect(MatrixEvent(event) == nil)
        let events: JSONValue = [Self.creation, event]
        let builder = RoomBatchBuilder(
            ownUserID: MemberID(Self.own), translator: .untranslated, accountData: AccountData(), now: Fixtures.date)
        let joined = try timelines(events) + states(events)
        for update in joined {
            let room = try #require(update.rooms.first)
            #expect(builder.batch(of: room, known: KnownRooms())?.state?.encryption == .on)
            #expect(update.skipped == 1)
        }
        let left = [
            try plain("leave", ["timeline": ["events": events]]), try plain("leave", ["state": ["events": events]]),
            try sliding(["membership": "leave", "timeline": events]),
            try sliding(["membership": "ban", "required_state": events]),
        ]
        for update in joined + left {
            let settings = update.encryptionSettings
            #expect(settings.count == 1 && settings.first?.room == ExactText(Self.room.rawValue))
            #expect(settings.first?.content == event["content"])
        }
        // The inviter's server may make it up: it is shown, and not recorded.
        let invited = [
            try plain("invite", ["invite_state": ["events": events]]),
            try plain("knock", ["knock_state": ["events": events]]),
            try sliding(["invite_state": events]), try sliding(["stripped_state": events]),
        ]
        for update in invited {
            #expect(update.rooms.map(\.encryption.count) == [1])
            #expect(update.encryptionSettings.isEmpty)
        }
    }

    @Test("An update with nothing but such an event stores the room as encrypted", arguments: [true, false])
    func encryptionAlone(isKnown: Bool) throws {
        var known = KnownRooms()
        if isKnown { known.rooms[Self.room] = KnownRoom(state: .unencrypted) }
        let builder = RoomBatchBuilder(
            ownUserID: MemberID(Self.own), translator: .untranslated, accountData: AccountData(), now: Fixtures.date)
        for update in try timelines([Self.odd(Self.encryption)]) {
            let room = try #require(update.rooms.first)
            #expect(builder.batch(of: room, known: known)?.state?.encryption == .on)
        }
    }

    @Test("Neither a message of that type nor state with another key encrypts a room")
    func otherEvents() throws {
        let content: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2"]
        let message = Events.event("$1", "m.room.encryption", content)
        let other = Events.event("$2", "m.room.encryption", content, stateKey: "other")
        for update in try timelines([message, other, Self.odd(message), Self.odd(other)]) {
            #expect(update.encryptionSettings.isEmpty)
        }
        for update in try states([other, Self.odd(other)]) { #expect(update.encryptionSettings.isEmpty) }
    }

    @Test("Nothing goes in the clear into a room whose encryption cannot be read", arguments: oddities)
    func way(name: String, value: JSONValue) async throws {
        let server = FakeHomeserver { _ in nil }
        let (backend, store) = try await server.start(in: folder)
        let events: JSONValue = [
            Self.creation, Events.member(Self.own, "Me"), Self.odd(Self.encryption, name, value),
        ]
        let joined: JSONValue = .object([Self.room.rawValue: ["timeline": ["events": events]]])
        server.sync(["next_batch": "s1", "rooms": ["join": joined]])
        try await server.waitUntilConsumed()
        #expect(try await store.roomState(of: Self.room).encryption == .on)
        #expect(try await backend.encryption.way(into: Self.room) == .sealed)
        #expect(!server.paths.contains { $0.contains("/state/") })
        await backend.close()
        await store.close()
    }

    // MARK: Readers

    private static let visibility = Events.event(
        "$v", "m.room.history_visibility", ["history_visibility": "joined"], stateKey: "")
    private static let changes: [JSONValue] = [
        odd(Events.member(ann, "Ann", "leave")), odd(Events.member(ann, "Ann", "leave"), "state_key", 5),
        odd(Events.member(ann, "Ann", "leave"), "content", [:]),
        odd(Events.member(ann, "Ann", "leave"), "content", ["membership": 5]), odd(visibility),
        odd(visibility, "content", .null), odd(visibility, "content", ["history_visibility": 5]),
    ]

    @Test("After an unreadable change of who reads a room, its members are not known any more", arguments: changes)
    func audience(change: JSONValue) throws {
        for update in try timelines([change]) + states([change]) {
            #expect(update.audienceNews.flatMap(\.items) == [.gap])
        }
    }

    @Test("Messages of these types change nothing of who reads a room")
    func messages() throws {
        let events: JSONValue = .array(
            ["m.room.member", "m.room.history_visibility"].map { Self.odd(Events.event("$1", $0, [:])) })
        for update in try timelines(events) { #expect(update.audienceNews.isEmpty) }
    }

    @Test(
        "When it cannot be read who has left, the next message has a new key, for members that are requested before",
        .enabled(if: EncryptionSetting.isOn))
    func leaver() async throws {
        let server = RecordingHomeserver()
        let account = try await EncryptedAccount.start(
            in: folder, MemoryCredentialStore(), clock: NonWaitingClock()
        ) { server.answer($0) }
        let (backend, room) = (account.backend, account.room)
        try await account.sync(EncryptedAccount.state)
        func questions() -> Int { account.server.paths.count { $0.hasSuffix("/members") } }
        try await backend.send(Fixtures.outgoing("1", transaction: "t1"), to: room)
        await backend.sendingEnds(in: room)
        #expect(questions() == 1)
        try await account.sync([Self.odd(Events.member(Self.ann, "Ann", "leave"))])
        try await backend.send(Fixtures.outgoing("2", transaction: "t2"), to: room)
        await backend.sendingEnds(in: room)
        #expect(questions() == 2)
        let sessions = server.events.compactMap { $0["content"]?["session_id"]?.string }
        #expect(sessions.count == 2 && Set(sessions).count == 2)
        await account.close()
    }

    @Test("Members get keys whatever else the server's list says of them")
    func members() async throws {
        let list: JSONValue = [
            Events.member(Self.own, "Me"), Self.odd(Events.member(Self.ann, "Ann", "invite")),
            Self.odd(Events.member("@bob:example.org", "Bob"), "content", [:]), Self.odd(Self.creation), 5,
        ]
        let transport = FakeTransport.responding { _ in ["chunk": list] }
        let found = try await transport.client.memberships(of: Self.room)
        #expect(found == [ExactText(Self.own): "join", ExactText(Self.ann): "invite"])
    }
}
