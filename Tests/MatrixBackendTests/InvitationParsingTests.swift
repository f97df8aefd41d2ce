import ChatCore
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Parses stripped state of rooms the user has not joined, valid and malformed.
struct InvitationParsingTests {
    private static let own = MemberID("@me:example.org")
    private static let state: JSONValue = [
        ["type": "m.room.name", "state_key": "", "sender": "@ann:example.org", "content": ["name": " A\nroom "]],
        ["type": "m.room.topic", "state_key": "", "sender": "@ann:example.org", "content": ["topic": "About"]],
        [
            "type": "m.room.canonical_alias", "state_key": "", "sender": "@ann:example.org",
            "content": ["alias": "#room:example.org"],
        ],
        [
            "type": "m.room.avatar", "state_key": "", "sender": "@ann:example.org",
            "content": ["url": "mxc://example.org/a"],
        ],
        ["type": "m.room.encryption", "state_key": "", "sender": "@ann:example.org", "content": ["algorithm": "x"]],
        [
            "type": "m.room.member", "state_key": "@ann:example.org", "sender": "@ann:example.org",
            "content": ["membership": "join", "displayname": "Ann", "avatar_url": "mxc://example.org/ann"],
        ],
        [
            "type": "m.room.member", "state_key": "@me:example.org", "sender": "@ann:example.org",
            "content": ["membership": "invite", "is_direct": true],
        ],
    ]

    private func plain(_ state: JSONValue) throws -> SyncUpdate {
        let invite: JSONValue = ["!r:example.org": ["invite_state": ["events": state]]]
        return try PlainSync.read(["next_batch": "1", "rooms": ["invite": invite]], since: "0")
    }

    private func invitation(_ state: JSONValue) throws -> Invitation {
        let room = try #require(try plain(state).rooms.first)
        #expect(room.membership == .invited)
        return Invitation(to: room.id, of: Self.own, by: room.invitation, at: Date(timeIntervalSince1970: 1))
    }

    @Test func fullInvitationIsParsed() throws {
        let expected = Invitation(
            room: RoomID("!r:example.org"), name: "A room", topic: "About", address: "#room:example.org",
            avatar: "mxc://example.org/a", inviter: MemberID("@ann:example.org"), inviterName: "Ann", isDirect: true,
            isEncrypted: true, receivedAt: Date(timeIntervalSince1970: 1))
        #expect(try invitation(Self.state) == expected)
        let sliding: JSONValue = ["pos": "1", "rooms": ["!r:example.org": ["invite_state": Self.state]]]
        #expect(try SlidingSync.read(sliding).rooms == plain(Self.state).rooms)
    }

    @Test("An invitation to a space says so", arguments: ["m.space", "org.example.other", nil])
    func space(type: String?) throws {
        let creation: JSONValue = [
            "type": "m.room.create", "state_key": "", "sender": "@ann:example.org",
            "content": .object(type.map { ["type": .string($0)] } ?? [:]),
        ]
        let parsed = try invitation(.array((Self.state.array ?? []) + [creation]))
        #expect(parsed.isSpace == (type == "m.space"))
        #expect(try JSONDecoder().decode(Invitation.self, from: JSONEncoder().encode(parsed)) == parsed)
    }

    @Test func directInvitationUsesTheInvitersAvatar() throws {
        let events = (Self.state.array ?? []).filter {
            $0["type"]?.string != "m.room.avatar" && $0["type"]?.string != "m.room.name"
        }
        let parsed = try invitation(.array(events))
        #expect(parsed.avatar == "mxc://example.org/ann" && parsed.title == "#room:example.org")
    }

    @Test func invitationSurvivesMissingAndInvalidFields() throws {
        #expect(try invitation([]).title == "!r:example.org")
        #expect(try plain("nothing").rooms.first?.membership == .invited)
        let wrong: [JSONValue] = [
            .null, true, 5, "text", [], [[]], ["x": 1], .string(String(repeating: "x", count: 9999)),
        ]
        for state in Self.state.mutations(with: wrong) {
            let parsed = try invitation(state)
            #expect(!parsed.title.isEmpty && parsed.title.count <= ChatLimits.roomNameLength)
            #expect(parsed.avatar?.hasPrefix("mxc://") ?? true)
        }
    }

    @Test func directRoomsAreIndexedByRoom() {
        let rooms = DirectRooms([
            "@b:x": ["!1", "!2", 5, "!1"], "@a:x": ["!2"], "nobody": ["!3"], "@c:x": "!4", "@d:x": [],
        ])
        #expect(rooms.partners == [RoomID("!1"): MemberID("@b:x"), RoomID("!2"): MemberID("@a:x")])
        let more = rooms.adding(RoomID("!9"), with: "@a:x")
        #expect(more?.rooms(with: "@a:x").map(\.rawValue) == ["!2", "!9"])
        #expect(more?.json["nobody"] == ["!3"] && more?.json["@c:x"] == "!4", "what others wrote stays")
        #expect(more?.adding(RoomID("!9"), with: "@a:x") == nil)
        #expect(DirectRooms("odd").partners.isEmpty)
    }

    @Test("A user whose ID looks like another's has none of their direct chats, and gets none in their name")
    func similarPartners() {
        let rooms = DirectRooms(["@\u{E9}:x": ["!1"]])
        #expect(rooms.rooms(with: "@\u{E9}:x") == [RoomID("!1")])
        #expect(rooms.rooms(with: "@e\u{301}:x").isEmpty)
        #expect(rooms.adding(RoomID("!2"), with: "@e\u{301}:x") == nil)
        #expect(rooms.adding(RoomID("!2"), with: "@\u{E9}:x")?.json["@\u{E9}:x"] == ["!1", "!2"])
    }
}
