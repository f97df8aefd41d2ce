import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Unread counts derived from the server's counts, receipts and markers.
@Suite(.timeLimit(.minutes(10))) struct UnreadTests {
    private let room = RoomID("!room:example.org")
    private let me = "@me:example.org"
    private let folder = TemporaryFolder()

    private func start(
        _ server: FakeHomeserver, in folder: TemporaryFolder, sliding: Bool
    ) async throws -> (MatrixBackend, ChatStore) {
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await MatrixBackend.start(
            over: store, server: URL(filePath: "/"), ownUserID: MemberID(me), token: AccessToken("secret"),
            hasSlidingSync: sliding, transport: server)
        return (backend, store)
    }

    private func texts(_ numbers: ClosedRange<Int>) -> [JSONValue] { numbers.map { Events.text("$\($0)", "\($0)") } }

    private func mention(_ id: String) -> JSONValue {
        Events.event(
            id, "m.room.message",
            ["msgtype": "m.text", "body": "You?", "m.mentions": ["user_ids": [.string(me)]]])
    }

    private func receipts(_ marks: [String: [String: JSONValue]]) -> JSONValue {
        .object(
            marks.mapValues { kinds in
                .object(kinds.mapValues { .object([me: $0]) })
            })
    }

    /// Returns a sliding sync response with a notification count.
    private func sliding(
        _ timeline: [JSONValue], limited: Bool = false, marks: JSONValue = [:], fullyRead: String? = nil
    ) -> JSONValue {
        let roomUpdate: JSONValue = [
            "initial": true, "limited": .bool(limited), "prev_batch": "p", "notification_count": 0,
            "highlight_count": 0, "timeline": .array(timeline),
        ]
        let fully: [JSONValue] =
            fullyRead.map { [["type": "m.fully_read", "content": ["event_id": .string($0)]]] } ?? []
        return [
            "pos": "1", "lists": ["all": ["count": 1]], "rooms": .object([room.rawValue: roomUpdate]),
            "extensions": [
                "receipts": ["rooms": .object([room.rawValue: ["content": marks]])],
                "account_data": ["rooms": .object([room.rawValue: .array(fully)])],
            ],
        ]
    }

    /// Each case: receipts, the fully-read marker, whether the sync is limited, the unread count of ten messages, and
    /// whether there may be more.
    static let marks: [([String: [String: JSONValue]], String?, Bool, Int, Bool)] = [
        (["$4": ["m.read": ["ts": 1]]], nil, true, 6, false),
        (
            ["$4": ["m.read.private": ["ts": 1, "thread_id": "main"]], "$2": ["m.read": ["ts": 5]]], nil, true, 6, false
        ),
        ([:], "$7", true, 3, false), (["$4": ["m.read": ["ts": 1]]], "$2", false, 6, false),
        (["$10": ["m.read": ["ts": 1]]], nil, true, 0, false), ([:], nil, true, 10, true), ([:], nil, false, 10, false),
        (["$older": ["m.read": ["ts": 1]]], "$oldest", true, 10, true),
        (["$9": ["m.read": ["ts": 1, "thread_id": "$3"]]], nil, true, 10, true),
    ]

    /// The server's notification count is always 0 here and thus ignored.
    @Test(arguments: marks) func readMarkersDetermineUnreadAfterSignIn(
        _ marks: [String: [String: JSONValue]], _ fullyRead: String?, _ limited: Bool, _ unread: Int, _ more: Bool
    ) async throws {
        let server = FakeHomeserver { $0.url.path.hasSuffix("/read_markers") ? [:] : nil }
        let (backend, store) = try await start(server, in: folder, sliding: true)
        server.sync(sliding(texts(1...10), limited: limited, marks: receipts(marks), fullyRead: fullyRead))
        try await server.waitUntilConsumed()
        let summary = try #require(try await store.roomSummaries().first)
        #expect(summary.unreadCount == unread && summary.mayHaveMoreUnread == more)
        // Opening the room updates the marker for the user's other clients.
        try await backend.markRead(MessageID("$10"), in: room)
        while server.paths.contains(where: { $0.hasSuffix("/read_markers") }) != (unread > 0) {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await store.roomSummaries().first?.unreadCount == 0)
        await backend.close()
        await store.close()
    }

    /// Servers count an encrypted edit as unread.
    @Test func receiptOfTheNewestMessageIncludesWhatFollowsIt() async throws {
        let server = FakeHomeserver { $0.url.path.hasSuffix("/read_markers") ? [:] : nil }
        let (backend, store) = try await start(server, in: folder, sliding: true)
        let edit: JSONValue = [
            "msgtype": "m.text", "body": "* x", "m.new_content": ["msgtype": "m.text", "body": "x"],
            "m.relates_to": ["rel_type": "m.replace", "event_id": "$2"],
        ]
        server.sync(sliding(texts(1...2) + [Events.event("$edit", "m.room.message", edit)], limited: true))
        try await server.waitUntilConsumed()
        for (message, marker) in [("$1", "$1"), ("$2", "$edit")] {
            try await backend.markRead(MessageID(message), in: room)
            func sent() -> [JSONValue?] {
                server.requests.filter { $0.url.path.hasSuffix("/read_markers") }.map { $0.json?["m.read"] }
            }
            while sent().last != .string(marker) { try await Task.sleep(for: .milliseconds(5)) }
        }
        while try await !store.unsentReadMarkers().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        await backend.close()
        await store.close()
    }

    /// What is in a gap has not been read.
    @Test func receiptOfAMessageBeforeAGapIncludesNothingBehindIt() async throws {
        let server = FakeHomeserver { $0.url.path.hasSuffix("/read_markers") ? [:] : nil }
        let (backend, store) = try await start(server, in: folder, sliding: true)
        server.sync(sliding(texts(1...2)))
        let reaction: JSONValue = ["m.relates_to": ["rel_type": "m.annotation", "event_id": "$x", "key": "👍"]]
        server.sync(sliding([Events.event("$reaction", "m.reaction", reaction)], limited: true))
        try await server.waitUntilConsumed()
        #expect(try await store.newestMessage(in: room) == MessageID("$2"))
        try await backend.markRead(MessageID("$2"), in: room)
        try await server.receives("/read_markers")
        let sent = server.requests.filter { $0.url.path.hasSuffix("/read_markers") }.map { $0.json?["m.read"] }
        #expect(sent == ["$2"])
        await backend.close()
        await store.close()
    }

    @Test func missingMessagesAreCountedUpToTheReadMarker() async throws {
        let older = [mention("$3")] + texts(4...10)
        let pages: [JSONValue] = [
            ["chunk": .array(texts(11...20).reversed()), "end": "p11"],
            ["chunk": .array((texts(1...2) + older).reversed()), "end": "p1"],
        ]
        let server = FakeHomeserver { request in
            guard request.url.path.hasSuffix("/messages") else { return nil }
            return pages[request.url.query()?.contains("from=p11") == true ? 1 : 0]
        }
        let (backend, store) = try await start(server, in: folder, sliding: true)
        server.sync(sliding(texts(21...30), limited: true, marks: receipts(["$2": ["m.read": ["ts": 1]]])))
        for await rooms in backend.roomSummaries() {
            guard let summary = rooms.first, !summary.mayHaveMoreUnread else { continue }
            #expect(summary.unreadCount == 28 && summary.mentionCount == 1)
            break
        }
        #expect(server.paths.count { $0.hasSuffix("/messages") } == 2, "no farther than to the mark")
        await backend.close()
        await store.close()
    }

    /// A room never read, with endless history.
    @Test func countingMissingMessagesIsBounded() async throws {
        let server = FakeHomeserver { request in
            guard request.url.path.hasSuffix("/messages"),
                let from = request.url.query()?.split(separator: "&").first(where: { $0.hasPrefix("from=") }),
                let number = Int(from.dropFirst("from=p".count).isEmpty ? "0" : from.dropFirst("from=p".count))
            else { return nil }
            return ["chunk": [Events.text("$-\(number)", "x")], "end": .string("p\(number + 1)")]
        }
        let (backend, store) = try await start(server, in: folder, sliding: true)
        server.sync(sliding(texts(1...10), limited: true))
        for await rooms in backend.roomSummaries() where rooms.first?.unreadCount == 15 { break }
        for _ in 0..<2 {
            server.sync(["pos": "2", "lists": ["all": ["count": 1]]])
            try await server.waitUntilConsumed()
        }
        #expect(server.paths.count { $0.hasSuffix("/messages") } == 5)
        #expect(try await store.roomSummaries().first?.mayHaveMoreUnread == true)
        await backend.close()
        await store.close()
    }

    private func plain(
        _ token: String, _ timeline: [JSONValue], limited: Bool = false, marks: JSONValue = [:],
        counts: JSONValue = .null
    ) -> JSONValue {
        let roomUpdate: JSONValue = [
            "timeline": ["events": .array(timeline), "limited": .bool(limited), "prev_batch": .string("p" + token)],
            "ephemeral": ["events": [["type": "m.receipt", "content": marks]]], "unread_notifications": counts,
        ]
        return ["next_batch": .string(token), "rooms": ["join": .object([room.rawValue: roomUpdate])]]
    }

    @Test func plainSyncUsesTheServersCount() async throws {
        let server = FakeHomeserver { _ in nil }
        let (backend, store) = try await start(server, in: folder, sliding: false)
        func counts() async throws -> [Int] {
            try await server.waitUntilConsumed()
            let summary = try #require(try await store.roomSummaries().first)
            #expect(!summary.mayHaveMoreUnread)
            return [summary.unreadCount, summary.mentionCount]
        }
        server.sync(plain("1", texts(1...3), limited: true, counts: ["notification_count": 0, "highlight_count": 0]))
        #expect(try await counts() == [0, 0], "nothing is what it says")
        server.sync(
            plain("2", texts(50...60), limited: true, counts: ["notification_count": 40, "highlight_count": 2]))
        #expect(try await counts() == [40, 2])
        server.sync(plain("3", [mention("$61")], counts: ["notification_count": 41, "highlight_count": 3]))
        #expect(try await counts() == [41, 3])
        try await backend.markRead(MessageID("$61"), in: room)
        #expect(try await counts() == [0, 0])
        #expect(!server.paths.contains { $0.hasSuffix("/messages") }, "nothing was to be counted")
        await backend.close()
        await store.close()
    }

    /// Other clients put receipts and markers on any event that is last.
    @Test func readMarkersMayPointAtAnyEvent() async throws {
        let server = FakeHomeserver { _ in nil }
        let (backend, store) = try await start(server, in: folder, sliding: false)
        let ann = "@ann:example.org"
        let silent: [(String, JSONValue)] = [
            ("$reaction", Events.all[4]), ("$edit", Events.all[3]), ("$create", Events.all[13]),
        ]
        server.sync(plain("0", texts(1...1)))
        for (number, (id, event)) in silent.enumerated() {
            let text = Events.text("$\(id)-before", "x", by: ann)
            let marks: JSONValue = .object([
                id: ["m.read": .object([me: ["ts": 1], "@bob:example.org": ["ts": 1]])]
            ])
            server.sync(plain("\(number + 1)", [text, event], marks: marks))
            try await server.waitUntilConsumed()
            #expect(try await store.roomSummaries().first?.unreadCount == 0, "\(id)")
            let last = try await store.messages(in: room, before: .max, limit: 1).messages
            #expect(last.first?.readReceipts.map(\.member.rawValue) == ["@bob:example.org"], "\(id)")
        }
        await backend.close()
        await store.close()
    }
}
