import ChatCore
import ChatStore
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// The batch to store for an update, given the known state of the room.
@Suite struct RoomBatchBuilderTests {
    private let room = RoomID("!room:example.org")
    private let own = MemberID("@me:example.org")
    private let now = Date(timeIntervalSince1970: 1000)

    private var builder: RoomBatchBuilder {
        RoomBatchBuilder(ownUserID: own, translator: .untranslated, accountData: AccountData(), now: now)
    }

    private func update(_ state: [JSONValue] = [], timeline: [JSONValue] = []) -> RoomUpdate {
        var update = RoomUpdate(id: room)
        update.timeline = timeline.compactMap(MatrixEvent.init)
        update.state = state.compactMap(MatrixEvent.init)
        return update
    }

    private func known(_ change: (inout KnownRoom) -> Void = { _ in }) -> KnownRooms {
        var known = KnownRoom()
        change(&known)
        var rooms = KnownRooms()
        rooms.rooms[room] = known
        return rooms
    }

    private func state(_ type: String, _ content: JSONValue, id: String = "$s") -> JSONValue {
        Events.event(id, type, content, stateKey: "")
    }

    private static let encryptions: [(RoomState.Encryption, [String], RoomState.Encryption)] = [
        (.unknown, [], .unknown), (.unknown, ["m.room.name"], .unknown), (.unknown, ["m.room.create"], .off),
        (.unknown, ["m.room.create", "m.room.encryption"], .on), (.off, [], .off), (.off, ["m.room.encryption"], .on),
        (.on, [], .on), (.on, ["m.room.create"], .on),
    ]

    @Test("Only the whole state of a room proves that it is not encrypted", arguments: encryptions)
    func onlyFullStateProvesNoEncryption(before: RoomState.Encryption, types: [String], after: RoomState.Encryption) {
        let known = known { $0.state.encryption = before }
        let events = types.enumerated().map { state($1, [:], id: "$\($0)") }
        #expect(builder.batch(of: update(events), known: known)?.state?.encryption == after)
    }

    @Test("State that an update does not contain is kept")
    func unmentionedStateIsRetained() {
        let known = known { known in
            known.state.topic = "Beds"
            known.state.joinedCount = 3
            known.state.name = "Garden"
        }
        let batch = builder.batch(of: update([state("m.room.name", ["name": "Yard"])]), known: known)
        #expect(batch?.name == "Yard" && batch?.state?.name == "Yard")
        #expect(batch?.state?.topic == "Beds" && batch?.state?.joinedCount == 3)
    }

    @Test("When a room's name is redacted, the room is named after its members again")
    func redactedNameIsReplacedByMembers() {
        let known = known { known in
            known.state.name = "Rude"
            known.members = [Member(id: MemberID("@ann:a"), displayName: "Ann", kind: .person)]
            known.origins = [StateOrigin(.init(type: "m.room.name", key: ""), event: MessageID("$name"))]
        }
        let redaction = Events.event("$x", "m.room.redaction", ["redacts": "$name"])
        let redacting = update(timeline: [redaction])
        let request = builder.request(for: redacting)
        #expect(request.events == [MessageID("$name")] && request.namingTypes.contains("m.room.name"))
        #expect(request.members == .ifNameless, "most redactions are of messages")
        let batch = builder.batch(of: redacting, known: known)
        #expect(batch?.name == "Ann" && batch?.state?.name == nil)
    }

    @Test("A room keeps the names of its heroes until all of them are known, or its name is removed")
    func unknownHeroes() {
        let (ann, bob) = ("@ann:example.org", "@bob:example.org")
        var first = update()
        first.state = [Events.member(own.rawValue, "Me")].compactMap(MatrixEvent.init)
        first.heroes = [(ann, "Ann"), (bob, "Bob")].map { RoomUpdate.Hero(id: MemberID($0), name: $1) }
        let named = builder.batch(of: first, known: KnownRooms())
        #expect(named?.name == "Ann, Bob")
        var known = known { known in
            known.state = named?.state ?? RoomState()
            known.members = named?.members ?? []
        }
        #expect(known.rooms[room]?.state.heroes == [MemberID(ann), MemberID(bob)])
        let second = builder.batch(of: update([Events.member(ann, "Ann")]), known: known)
        #expect(second?.members.count == 1 && second?.name == nil)
        #expect(builder.batch(of: update([state("m.room.name", [:])]), known: known)?.name == "\(ann), \(bob)")
        known.rooms[room]?.members += second?.members ?? []
        #expect(builder.batch(of: update([Events.member(bob, "Bobby")]), known: known)?.name == "Ann, Bobby")
    }

    @Test("Spaces are remembered and have no timeline")
    func spacesHaveNoTimeline() {
        let creation = state("m.room.create", ["type": "m.space"])
        #expect(builder.batch(of: update([creation]), known: KnownRooms())?.isSpace == true)
        var space = KnownRooms()
        space.spaces = [room]
        let message = update(timeline: [Events.text("$1", "x")])
        #expect(builder.batch(of: message, known: space) == nil)
        space.rooms[room] = KnownRoom()
        #expect(builder.batch(of: message, known: space)?.isSpace == true, "what earlier versions stored goes")
    }

    @Test("Receipts alone do not create a room")
    func receiptsDoNotCreateARoom() {
        #expect(builder.batch(of: update(), known: KnownRooms()) == nil)
        #expect(builder.batch(of: update(), known: known()) != nil)
    }

    @Test("An invitation removes a stored room that the user has left")
    func invitationRemovesALeftRoom() {
        var invited = update()
        invited.membership = .invited
        #expect(builder.batch(of: invited, known: KnownRooms()) == nil)
        #expect(builder.batch(of: invited, known: known())?.isLeft == true)
    }

    // MARK: Removals

    /// An event of the user's membership.
    private func membership(
        _ now: String, by sender: String, after before: String?, reason: JSONValue? = nil, id: String = "$own"
    ) -> JSONValue {
        var content: [String: JSONValue] = ["membership": .string(now)]
        content["reason"] = reason
        var unsigned: [String: JSONValue] = [:]
        if let before { unsigned["prev_content"] = ["membership": .string(before)] }
        return Events.event(
            id, "m.room.member", .object(content), by: sender, stateKey: own.rawValue, unsigned: .object(unsigned))
    }

    /// The batches of either sync for a stored room, when it ends with these events for the user.
    private func lastBatches(_ events: [JSONValue]) throws -> [RoomBatch] {
        let events = JSONValue.array(events)
        func plain(_ section: String) throws -> SyncUpdate {
            let left: JSONValue = .object([room.rawValue: .object([section: ["events": events]])])
            return try PlainSync.read(["next_batch": "s2", "rooms": ["leave": left]], since: "s1")
        }
        func sliding(_ json: JSONValue) throws -> SyncUpdate {
            try SlidingSync.read(["pos": "5", "rooms": .object([room.rawValue: json])])
        }
        let updates = [
            try plain("timeline"), try plain("state"), try sliding(["membership": "leave", "timeline": events]),
            try sliding(["timeline": events]), try sliding(["membership": "ban", "required_state": events]),
        ]
        let batches = updates.flatMap(\.rooms).compactMap { builder.batch(of: $0, known: known()) }
        #expect(batches.count == updates.count && batches.allSatisfy(\.isLeft))
        return batches
    }

    @Test("Who removes or bans the user is told with the reason, in either sync", arguments: ["leave", "ban"])
    func removal(now: String) throws {
        let bo = MemberID("@bo:example.org")
        let name = Events.member(bo.rawValue, "Bo")
        let event = membership(now, by: bo.rawValue, after: "join", reason: " off\n topic ")
        for (events, actorName) in [([name, event], "Bo"), ([event], bo.rawValue)] {
            let expected = RoomRemoval(
                room: room, roomName: room.rawValue, kind: now == "ban" ? .banned : .removed, actor: bo,
                actorName: actorName, reason: "off topic")
            for batch in try lastBatches(events) { #expect(batch.removal == expected) }
        }
    }

    @Test("A reason is limited in length, and one without text is none")
    func reasons() throws {
        let long = JSONValue.string(String(repeating: "x", count: 5000))
        for (reason, length) in [(long, 100), (" \n ", nil), (5, nil)] as [(JSONValue, Int?)] {
            let event = membership("leave", by: "@bo:example.org", after: nil, reason: reason)
            for batch in try lastBatches([event]) {
                #expect(batch.removal != nil && batch.removal?.reason?.count == length)
            }
        }
    }

    /// Each step: the membership before and after, and who changes it.
    private static let endings: [([String], RoomRemoval.Kind?)] = [
        (["join leave me"], nil), (["invite leave me"], nil), (["invite leave bo"], nil),
        (["join leave me", "leave invite bo", "invite leave bo"], nil),
        (["join leave bo", "leave join me", "join leave me"], nil),
        (["join leave bo", "leave invite bo", "invite leave me"], nil),
        (["join leave bo", "leave invite bo", "invite leave bo"], .removed),
        (["join leave bo", "leave ban bo"], .banned), (["join ban bo", "ban leave bo"], .banned),
    ]

    @Test("Neither leaving nor the end of an invitation is a removal, nor does one undo a removal", arguments: endings)
    func endingsOfMembership(steps: [String], expected: RoomRemoval.Kind?) throws {
        let events = steps.enumerated().map { index, step in
            let words = step.split(separator: " ").map(String.init)
            return membership(words[1], by: "@\(words[2]):example.org", after: words[0], id: "$\(index)")
        }
        for batch in try lastBatches(events) { #expect(batch.removal?.kind == expected) }
    }

    // MARK: Mentions

    /// The level of an `@room` mention by the room's creator, whom the power levels do not name.
    private func level(ofMentionIn update: RoomUpdate, known: KnownRooms) -> NotificationLevel? {
        guard case .message(let message)? = builder.batch(of: update, known: known)?.events.last else { return nil }
        return message.notificationLevel
    }

    @Test(
        "An @room mention by a creator of a room of version 12 notifies, also once the room is stored",
        arguments: [
            ("12", "@ann:example.org", NotificationLevel.mention), ("12", "@bob:example.org", .mention),
            ("12", "@carl:example.org", .unread), ("11", "@ann:example.org", .unread),
        ])
    func creatorMentionsEveryone(_ version: String, _ sender: String, _ expected: NotificationLevel) throws {
        let content: JSONValue = [
            "room_version": .string(version), "additional_creators": ["@bob:example.org"],
        ]
        let mention = Events.event(
            "$m", "m.room.message", ["msgtype": "m.text", "body": "@room", "m.mentions": ["room": true]], by: sender)
        let first = update(
            [state("m.room.create", content), state("m.room.power_levels", ["users": [:]], id: "$p")],
            timeline: [mention])
        #expect(level(ofMentionIn: first, known: KnownRooms()) == expected)
        let stored = try #require(builder.batch(of: first, known: KnownRooms())?.state)
        let later = known { $0.state = stored }
        #expect(level(ofMentionIn: update(timeline: [mention]), known: later) == expected)
    }

    @Test("A new room contains the user")
    func newRoomContainsTheUser() {
        let batch = builder.batch(of: update(timeline: [Events.text("$1", "x")]), known: KnownRooms())
        #expect(batch?.members.map(\.id) == [own] && batch?.events.count == 1 && batch?.createdAt == now)
    }
}
