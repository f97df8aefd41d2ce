import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import ChatStore
@testable import MatrixBackend

/// Which messages of a sync are published as arrivals, and when.
@Suite(.timeLimit(.minutes(10))) struct ArrivalTests {
    private let room = AccountParts.room
    private let bob = "@bob:example.org"
    private let status = SyncStatus()
    private let feed = ArrivalFeed()

    private func sync(
        _ parts: AccountParts, _ events: [JSONValue], isCaughtUp: Bool = true,
        _ change: (inout SyncUpdate) -> Void = { _ in }
    ) async throws {
        let writer = SyncWriter(
            context: parts.context, writer: parts.writer, opener: parts.opener, sealed: parts.sealed,
            entered: EnteredRooms(), status: status, arrivals: feed
        ) { _ in }
        var update = SyncUpdate(token: "s", rooms: [RoomUpdate(id: room)])
        update.rooms[0].timeline = try events.map { try #require(MatrixEvent($0)) }
        update.isCaughtUp = isCaughtUp
        change(&update)
        try await writer.write(update, as: "sync")
        if isCaughtUp { status.hasCaughtUp = true }
    }

    /// The arrivals published while `work` runs.
    private func arrivals(during work: () async throws -> Void) async rethrows -> [MessageArrival] {
        let stream = feed.arrivals()
        try await work()
        feed.finish()
        return await stream.reduce(into: []) { $0.append($1) }
    }

    @Test("A message that is received after the sync has caught up is published at once, with its sender's name")
    func live() async throws {
        let parts = try await AccountParts.make()
        try await sync(parts, [])
        let member = try #require(MatrixEvent(Events.member(bob, "Bob")))
        let arrived = try await arrivals {
            try await sync(parts, [Events.text("$2", "Hello", by: bob)]) { $0.rooms[0].state = [member] }
        }
        #expect(arrived.map(\.message.text) == ["Hello"])
        #expect(arrived.map(\.senderName) == ["Bob"])
        #expect(arrived.map(\.level) == [.unread])
        #expect(arrived.map(\.isMissed) == [false])
        await parts.store.close()
    }

    @Test("Own messages, room events, reactions, known messages and redacted ones are not arrivals")
    func others() async throws {
        let parts = try await AccountParts.make()
        try await sync(parts, [])
        let arrived = try await arrivals {
            try await sync(
                parts,
                [
                    Events.text("$1", "Known"), Events.text("$2", "Own", by: AccountParts.own.rawValue),
                    Events.event("$3", "m.room.topic", ["topic": "Topic"], by: bob, stateKey: ""),
                    Events.event(
                        "$4", "m.reaction",
                        ["m.relates_to": ["rel_type": "m.annotation", "event_id": "$1", "key": "👍"]], by: bob),
                    Events.text("$5", "Gone", by: bob),
                    Events.event("$6", "m.room.redaction", ["redacts": "$5"], by: bob),
                ])
        }
        #expect(arrived.isEmpty, "\(arrived)")
        await parts.store.close()
    }

    @Test("Messages read on another device by the same sync are not arrivals, later ones are")
    func readElsewhere() async throws {
        let parts = try await AccountParts.make()
        try await sync(parts, [])
        let arrived = try await arrivals {
            try await sync(parts, [Events.text("$2", "2", by: bob), Events.text("$3", "3", by: bob)]) {
                $0.rooms[0].fullyRead = MessageID("$2")
            }
        }
        #expect(arrived.map(\.message.text) == ["3"])
        await parts.store.close()
    }

    @Test("Messages of the first sync are not arrivals")
    func firstSync() async throws {
        let parts = try await AccountParts.make()
        let arrived = try await arrivals {
            try await sync(parts, [Events.text("$2", "2", by: bob)], isCaughtUp: false)
            try await sync(parts, [Events.text("$3", "3", by: bob)])
        }
        #expect(arrived.isEmpty)
        await parts.store.close()
    }

    @Test("Messages received while the sync catches up again are published afterwards, unless read meanwhile")
    func catchingUp() async throws {
        let parts = try await AccountParts.make()
        try await sync(parts, [])
        status.hasCaughtUp = false
        let stream = feed.arrivals()
        try await sync(
            parts, [Events.text("$2", "2", by: bob), Events.text("$3", "3", by: bob)], isCaughtUp: false)
        try await sync(parts, [Events.text("$4", "4", by: bob)]) { $0.rooms[0].fullyRead = MessageID("$2") }
        try await sync(parts, [Events.text("$5", "5", by: bob)])
        feed.finish()
        let arrived = await stream.reduce(into: [MessageArrival]()) { $0.append($1) }
        #expect(arrived.map(\.message.text) == ["3", "4", "5"])
        #expect(arrived.map(\.isMissed) == [true, true, false])
        await parts.store.close()
    }

    @Test("Messages received while the sync catches up again are published by the next one if they cannot be read")
    func failedCatchingUp() async throws {
        let parts = try await AccountParts.make()
        try await sync(parts, [])
        status.hasCaughtUp = false
        let stream = feed.arrivals()
        let accesses = Mutex((count: 0, failing: 0))
        parts.store.beforeAccess.withLock {
            $0 = {
                let fails = accesses.withLock { accesses in
                    accesses.count += 1
                    return accesses.count == accesses.failing
                }
                if fails { throw ChatError.storage(reason: "failed on purpose") }
            }
        }
        try await sync(parts, [Events.text("$2", "2", by: bob)], isCaughtUp: false)
        // The access behind those that this update needed.
        accesses.withLock { $0.failing = 2 * $0.count + 1 }
        await #expect(throws: ChatError.self) { try await sync(parts, [Events.text("$3", "3", by: bob)]) }
        try await sync(parts, [Events.text("$4", "4", by: bob)])
        feed.finish()
        let texts = await stream.reduce(into: [String]()) { $0.append($1.message.text) }
        #expect(texts == ["2", "3", "4"])
        await parts.store.close()
    }

    @Test("What becomes readable by keys from before the sync caught up notifies only if it came since the start")
    func opened() async throws {
        let stream = feed.arrivals()
        feed.noteSealed([MessageID("$before")], isLive: false)
        #expect(feed.caughtUp().isEmpty)
        feed.noteSealed([MessageID("$missed")], isLive: false)
        feed.noteSealed([MessageID("$live")], isLive: true)
        var areEarlier: [Bool] = []
        for (isFull, isLive) in [(true, false), (true, true), (false, true), (true, true), (false, true)] {
            areEarlier.append(feed.noteKeys(isFull: isFull, isLive: isLive))
        }
        #expect(areEarlier == [true, true, true, false, false])
        func arrival(_ id: String) -> MessageArrival {
            let message = Message(
                id: MessageID(id), roomID: room, sender: MemberID(bob), text: id, sentAt: Fixtures.date, position: 1)
            return MessageArrival(message: message, senderName: "Bob", level: .mention)
        }
        feed.publishOpened(["$before", "$missed", "$live"].map(arrival), mayBeEarlier: true)
        feed.publishOpened([arrival("$late")], mayBeEarlier: false)
        // While the sync catches up again, as after a failed poll.
        feed.noteSealed([MessageID("$asleep")], isLive: false)
        feed.keepOpened(["$before", "$asleep"].map(arrival))
        #expect(feed.caughtUp().map(\.message.text) == ["$asleep"])
        feed.finish()
        let arrived = await stream.reduce(into: [MessageArrival]()) { $0.append($1) }
        #expect(arrived.map(\.message.text) == ["$missed", "$live", "$late"])
        #expect(arrived.map(\.isMissed) == [true, false, false])
    }

    @Test("A message that ends a poll after a failed one was not missed")
    func failedPoll() async throws {
        let parts = try await AccountParts.make()
        let message = Events.text("$2", "Hello", by: bob)
        let polls = Mutex(0)
        let transport = FakeTransport.responding { request in
            if request.url.query()?.contains("timeout=0") == true { return ["next_batch": "s"] }
            let number = polls.withLock { polls in
                polls += 1
                return polls
            }
            switch number {
            case 1: return ["status": 502]
            case 2:
                let timeline: JSONValue = ["events": [message], "limited": false]
                return ["next_batch": "s", "rooms": ["join": [AccountParts.room.rawValue: ["timeline": timeline]]]]
            default: return ["errcode": "M_UNKNOWN_TOKEN", "status": 401]
            }
        }
        let writer = SyncWriter(
            context: parts.context, writer: parts.writer, opener: parts.opener, sealed: parts.sealed,
            entered: EnteredRooms(), status: status, arrivals: feed
        ) { _ in }
        let loop = SyncLoop(
            client: transport.client, store: parts.store, clock: NonWaitingClock(), status: status,
            hasSlidingSync: false,
            handlers: SyncLoop.Handlers(
                advance: { step in try await writer.advance(step) { _ in } }, willStartOver: {},
                didApply: { _, _ in }, report: { _ in }))
        var arrivals = feed.arrivals().makeAsyncIterator()
        await loop.restart()
        let arrival = await arrivals.next()
        #expect(arrival?.message.text == "Hello")
        #expect(arrival?.isMissed == false)
        await loop.stop()
        await parts.store.close()
    }

    @Test("The history of a new room is no arrival, messages after the user's join are")
    func newRoom() async throws {
        let parts = try await AccountParts.make()
        try await sync(parts, [])
        let arrived = try await arrivals {
            try await sync(parts, [Events.text("$a", "Before", by: bob)]) { $0.rooms[0].id = RoomID("!a:b") }
            try await sync(
                parts,
                [
                    Events.text("$b", "Before", by: bob),
                    Events.event(
                        "$join", "m.room.member", ["membership": "join"], by: AccountParts.own.rawValue,
                        stateKey: AccountParts.own.rawValue),
                    Events.text("$c", "Welcome", by: bob),
                ]
            ) { $0.rooms[0].id = RoomID("!c:d") }
        }
        #expect(arrived.map(\.message.text) == ["Welcome"])
        await parts.store.close()
    }

    @Test("Messages of ignored users are neither arrivals nor counted")
    func ignoredUsers() async throws {
        let parts = try await AccountParts.make()
        try await sync(parts, []) { $0.ignoredUsers = ["ignored_users": ["@bob:example.org": [:]]] }
        let before = try #require(try await parts.store.roomSummaries().first).unreadCount
        let arrived = try await arrivals {
            try await sync(parts, [Events.text("$2", "2", by: bob), Events.text("$3", "3")])
        }
        #expect(arrived.map(\.message.text) == ["3"])
        #expect(try await parts.store.roomSummaries().first?.unreadCount == before + 1)
        let data = try await AccountData(from: parts.store)
        #expect(data.ignoredUsers.contains(MemberID(bob)), "over a restart, too")
        await parts.store.close()
    }

    @Test("A message that an edit makes a mention arrives once, with the sound of mentions; other edits do not arrive")
    func editMentions() async throws {
        let parts = try await AccountParts.make()
        func rule(_ id: String, _ condition: JSONValue, _ actions: JSONValue) -> JSONValue {
            ["rule_id": .string(id), "conditions": [condition], "actions": actions]
        }
        let mention = rule(
            ".m.rule.is_user_mention",
            [
                "kind": "event_property_contains", "key": "content.m\\.mentions.user_ids",
                "value": .string(AccountParts.own.rawValue),
            ],
            ["notify", ["set_tweak": "highlight"], ["set_tweak": "sound", "value": "default"]])
        let edits = rule(
            ".m.rule.suppress_edits",
            ["kind": "event_property_is", "key": "content.m\\.relates_to.rel_type", "value": "m.replace"], [])
        let message = rule(
            ".m.rule.message", ["kind": "event_match", "key": "type", "pattern": "m.room.message"], ["notify"])
        func edit(_ id: String, _ text: String, mentions: JSONValue = [:]) -> JSONValue {
            Events.event(
                id, "m.room.message",
                [
                    "msgtype": "m.text", "body": .string("* " + text), "m.mentions": mentions,
                    "m.new_content": ["msgtype": "m.text", "body": .string(text)],
                    "m.relates_to": ["rel_type": "m.replace", "event_id": "$2"],
                ], by: bob)
        }
        try await sync(parts, [Events.text("$2", "Tea", by: bob)]) {
            $0.pushRules = ["global": ["override": [mention, edits], "underride": [message]]]
        }
        let before = try #require(try await parts.store.roomSummaries().first).unreadCount
        let mentioning = edit("$4", "Tea, Me?", mentions: ["user_ids": [.string(AccountParts.own.rawValue)]])
        let arrived = try await arrivals {
            try await sync(parts, [edit("$3", "Tea?")])
            for _ in 0..<2 { try await sync(parts, [mentioning]) }
            try await sync(parts, [edit("$5", "Tea, Me!")])
        }
        #expect(arrived.map(\.message.text) == ["Tea, Me?"] && arrived.map(\.level) == [.mention])
        #expect(arrived.map(\.isSilent) == [false])
        let summary = try #require(try await parts.store.roomSummaries().first)
        #expect(summary.unreadCount == before && summary.mentionCount == 1)
        await parts.store.close()
    }

    @Test("Push rules determine level and sound")
    func levels() async throws {
        let parts = try await AccountParts.make()
        let rules: JSONValue = [
            "global": [
                "content": [
                    [
                        "rule_id": "tea", "pattern": "tea",
                        "actions": ["notify", ["set_tweak": "highlight"], ["set_tweak": "sound", "value": "default"]],
                    ],
                    ["rule_id": "spam", "pattern": "spam", "actions": []],
                ],
                "underride": [
                    [
                        "rule_id": ".m.rule.message", "actions": ["notify"],
                        "conditions": [["kind": "event_match", "key": "type", "pattern": "m.room.message"]],
                    ]
                ],
            ]
        ]
        try await sync(parts, []) { $0.pushRules = rules }
        let arrived = try await arrivals {
            try await sync(
                parts, ["Some tea?", "No spam", "Hello"].enumerated().map { Events.text("$t\($0)", $1, by: bob) })
        }
        #expect(arrived.map(\.level) == [.mention, .unread])
        #expect(arrived.map(\.isSilent) == [false, true])
        await parts.store.close()
    }
}
