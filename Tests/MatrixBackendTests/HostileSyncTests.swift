import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Arbitrary JSON in one part of an event, or of the response, affects nothing else.
@Suite(.timeLimit(.minutes(10))) struct HostileSyncTests {
    private static let junk: [JSONValue] = [
        .null, true, 0, -1, .integer(.max), .integer(.min), .number(1e308), .number(-0.5), "", "x", "\0", "\u{202E}",
        .string(String(repeating: "é", count: 300)), [], [[[]]], [:], ["": ""], "@", "!", "$", "mxc://", "💥",
    ]
    private let own = MemberID("@me:example.org")

    private func syncResponse(_ events: [JSONValue]) -> JSONValue {
        [
            "next_batch": "s2",
            "rooms": [
                "join": [
                    "!room": [
                        "timeline": ["events": .array(events), "limited": true, "prev_batch": "p1"],
                        "state": ["events": []],
                    ]
                ]
            ],
        ]
    }

    @Test func mutatedEventsNeverBreakParsing() throws {
        let first = Events.text("$first", "before")
        let last = Events.text("$last", "after")
        let reader = EventParser(ownUserID: own, translator: .untranslated)
        var count = 0
        for event in Events.all {
            for mutated in event.mutations(with: Self.junk) {
                count += 1
                // Serialize first, as over the wire, so that the JSON parser is tested too.
                let data = try syncResponse([first, mutated, last]).encoded()
                let update = try PlainSync.read(JSONValue(parsing: data), since: "s1")
                let room = try #require(update.rooms.first)
                #expect(room.timeline.count + update.skipped == 3, "\(mutated)")
                let read = reader.timeline(room.timeline)
                #expect(read.first?.text == "before" && read.last?.text == "after", "\(mutated)")
                for event in read {
                    guard case .message(let message) = event else { continue }
                    #expect(!message.id.rawValue.isEmpty && !message.text.utf8.contains(0))
                }
                _ = ParsedRoomState(ownUserID: own, state: room.state)
            }
        }
        #expect(count > 3000, "\(count) mutations")
    }

    /// An event nested too deeply does not prevent parsing the other events.
    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func tooDeepEventDoesNotAffectOthers(open: String, close: String) async throws {
        let events = [Events.text("$1", "before"), Events.text("$2", "DEEP"), Events.text("$3", "after")]
        let deep = String(repeating: open, count: 100_000) + "1" + String(repeating: close, count: 100_000)
        let body = String(decoding: try syncResponse(events).encoded(), as: UTF8.self)
            .replacing(#""DEEP""#, with: deep)
        let said = try await FakeTransport(200, body).client.call(.get, ["client", "v3", "sync"])
        let room = try #require(try PlainSync.read(said, since: "s1").rooms.first)
        let read = EventParser(ownUserID: own, translator: .untranslated).timeline(room.timeline)
        #expect(read.first?.text == "before" && read.last?.text == "after")
    }

    @Test("A limited timeline without a token has a gap before its first event", arguments: [true, false])
    func limitedWithoutToken(hasEvents: Bool) throws {
        let events: JSONValue = hasEvents ? [Events.text("$a", "x"), Events.text("$b", "y")] : []
        let token = hasEvents ? TimelineGap.token(before: MessageID("$a")) : ""
        for wrong: JSONValue in [.null, 1, [:]] {
            let timeline: JSONValue = ["events": events, "limited": true, "prev_batch": wrong]
            let plain = try PlainSync.read(
                ["next_batch": "s2", "rooms": ["join": ["!room": ["timeline": timeline]]]], since: "s1")
            #expect(plain.rooms.first?.gap == token)
            let room: JSONValue = ["timeline": events, "limited": true, "prev_batch": wrong]
            let sliding = try SlidingSync.read(["pos": "1", "rooms": ["!room": room]])
            #expect(sliding.rooms.first?.gap == token)
        }
        let whole: JSONValue = ["next_batch": "s2", "rooms": ["join": ["!room": ["timeline": ["events": events]]]]]
        #expect(try PlainSync.read(whole, since: nil).rooms.first?.gap == nil)
    }

    @Test func mutatedSyncResponsesNeverBreakParsing() throws {
        let whole: JSONValue = [
            "next_batch": "s2",
            "rooms": [
                "join": [
                    "!room": [
                        "timeline": ["events": [Events.text("$a", "x")], "limited": true, "prev_batch": "p1"],
                        "state": ["events": [Events.member("@ann:example.org", "Ann")]],
                        "ephemeral": [
                            "events": [
                                ["type": "m.typing", "content": ["user_ids": ["@ann:example.org"]]],
                                [
                                    "type": "m.receipt",
                                    "content": [
                                        "$a": ["m.read": ["@ann:example.org": ["ts": 5, "thread_id": "main"]]]
                                    ],
                                ],
                            ]
                        ],
                        "account_data": ["events": [["type": "m.fully_read", "content": ["event_id": "$a"]]]],
                        "summary": ["m.heroes": ["@ann:example.org"]],
                        "unread_notifications": ["notification_count": 3],
                    ]
                ],
                "invite": ["!other": ["invite_state": ["events": []]]], "leave": ["!third": [:]],
            ],
        ]
        for mutated in whole.mutations(with: Self.junk) {
            do {
                _ = try PlainSync.read(mutated, since: "s1")
            } catch MatrixError.malformed {
                let token = mutated["next_batch"]?.string
                #expect(token == nil || token == "", "only a response without a token is rejected: \(mutated)")
            }
        }
    }

    @Test func mutatedSlidingResponsesNeverBreakParsing() throws {
        let whole: JSONValue = [
            "pos": "5",
            "rooms": [
                "!room": [
                    "initial": true, "limited": true, "prev_batch": "p", "notification_count": 2,
                    "heroes": [["user_id": "@ann:example.org", "displayname": "Ann"]],
                    "required_state": [Events.member("@ann:example.org", "Ann")],
                    "timeline": [Events.text("$a", "x")],
                ],
                "!invited": ["invite_state": []],
            ],
            "extensions": [
                "typing": ["rooms": ["!room": ["content": ["user_ids": ["@ann:example.org"]]]]],
                "receipts": [
                    "rooms": ["!room": ["content": ["$a": ["m.read": ["@ann:example.org": ["ts": 5]]]]]]
                ],
                "account_data": ["rooms": ["!room": [["type": "m.fully_read", "content": ["event_id": "$a"]]]]],
            ],
        ]
        for mutated in whole.mutations(with: Self.junk) {
            do {
                _ = try SlidingSync.read(mutated)
            } catch MatrixError.malformed {
                let token = mutated["pos"]?.string
                #expect(token == nil || token == "", "only a response without a token is rejected: \(mutated)")
            }
        }
        let read = try SlidingSync.read(whole)
        #expect(read.token == "5" && read.skipped == 0)
        let room = try #require(read.rooms.last)
        #expect(room.id == RoomID("!room") && room.gap == "p" && room.counted == nil)
        #expect(room.typing == [MemberID("@ann:example.org")] && room.receipts.count == 1)
        #expect(room.fullyRead == MessageID("$a") && room.heroes?.first?.name == "Ann")
        #expect(read.rooms.first?.membership == .invited)
    }

    @Test func storeAcceptsWhateverIsParsed() async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let reader = EventParser(ownUserID: own, translator: .untranslated)
        // In one batch, so that what one event leaves behind can affect the next.
        let events = Events.all.flatMap { $0.mutations(with: Self.junk) }.compactMap(MatrixEvent.init)
        var batch = RoomBatch(id: RoomID("!room"), createdAt: Fixtures.date)
        batch.events = reader.timeline(events)
        let state = ParsedRoomState(ownUserID: own, state: events.filter { $0.stateKey != nil })
        batch.members = state.members
        batch.state = state.room
        _ = try await store.apply(SyncBatch(rooms: [batch], settings: ["token": "s2"]))
        #expect(try await store.setting("token") == "s2")
        #expect(try await store.integrityProblems() == [])
        #expect(try await store.messages(in: RoomID("!room"), before: .max, limit: 1000).messages.count >= 5)
        await store.close()
    }

    @Test func loneSurrogatesAndDuplicateKeysAreParsed() throws {
        let body =
            #"{"next_batch":"a","next_batch":"b","rooms":{"join":{"!r":{"timeline":{"events":[{"event_id":"$a","type":"m.room.message","sender":"@a:b","origin_server_ts":1,"content":{"msgtype":"m.text","body":"x \ud800 y"}}]}}}}}"#
        let update = try PlainSync.read(JSONValue(parsing: Data(body.utf8)), since: nil)
        #expect(update.token == "b")
        let events = EventParser(ownUserID: own, translator: .untranslated).timeline(update.rooms[0].timeline)
        #expect(events.first?.text?.hasPrefix("x ") == true)
    }
}

extension TimelineEvent {
    /// The text of a message event, or `nil` for any other event.
    var text: String? {
        switch self {
        case .message(let message), .deleted(let message): message.text
        case .silent, .change, .redacted, .sealed: nil
        }
    }
}
