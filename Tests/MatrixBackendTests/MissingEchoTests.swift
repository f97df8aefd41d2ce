import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Fetching messages that a limited sync omits: the user's own, or all of them for an export.
@Suite(.timeLimit(.minutes(10))) struct MissingEchoTests {
    private static let time: Int64 = 1_700_000_000_000
    private let own = "@me:example.org"
    private let room = RoomID("!room:example.org")

    private func sync(_ token: String, _ events: [JSONValue], gap: String? = nil) -> JSONValue {
        var timeline: [String: JSONValue] = ["events": .array(events), "limited": .bool(gap != nil)]
        timeline["prev_batch"] = gap.map { .string($0) }
        // A notification count avoids a fetch of messages only to count them.
        let reported: JSONValue = ["timeline": .object(timeline), "unread_notifications": ["notification_count": 1]]
        return ["next_batch": .string(token), "rooms": ["join": .object([room.rawValue: reported])]]
    }

    private static func text(_ number: Int, by sender: String = "@ann:example.org") -> JSONValue {
        Events.text("$\(number)", "\(number)", by: sender, at: time + Int64(number))
    }

    /// Returns a `/messages` response, newest first.
    private static func page(_ numbers: [Int], end: String?, own: [Int] = []) -> JSONValue {
        let events = numbers.reversed().map { text($0, by: own.contains($0) ? "@me:example.org" : "@ann:example.org") }
        var page: [String: JSONValue] = ["chunk": .array(events), "start": "s"]
        page["end"] = end.map { .string($0) }
        return .object(page)
    }

    private func start(_ server: FakeHomeserver, _ folder: TemporaryFolder) async throws -> (MatrixBackend, ChatStore) {
        try await server.start(in: folder, as: own, at: Self.time)
    }

    /// Without a token, `/context` of the message after the gap provides one.
    @Test func gapWithoutATokenIsFilledFromContext() async throws {
        let server = FakeHomeserver { request in
            if request.url.path.hasSuffix("/context/$8") {
                return [
                    "start": "p7", "end": "n", "events_before": [Self.text(7)], "event": Self.text(8),
                    "events_after": [],
                ]
            }
            guard request.url.path.hasSuffix("/messages") else { return nil }
            return request.url.query()?.contains("from=p7&") == true ? Self.page([5, 6], end: nil) : nil
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await start(server, folder)
        server.sync(sync("s1", [Self.text(8)], gap: "x"))
        try await server.waitUntilConsumed()
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [], next: TimelineGap.token(before: MessageID("$8")))
        let page = try await backend.messages(in: room, before: .max, limit: 10)
        #expect(page.messages.map(\.text) == ["5", "6", "7", "8"])
        await backend.close()
        await store.close()
    }

    @Test func echoBehindAGapIsFoundWithoutFurtherRequests() async throws {
        let server = FakeHomeserver { request in
            if request.method == .put { return ["event_id": "$5"] }
            guard request.url.path.hasSuffix("/messages") else { return nil }
            let from = request.url.query() ?? ""
            if from.contains("from=p2&") { return Self.page([6, 7], end: "p3") }
            if from.contains("from=p3&") { return Self.page([4, 5], end: "p4", own: [5]) }
            return Self.page([1, 2, 3], end: "p5")
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await start(server, folder)
        server.sync(sync("s1", [Self.text(1)]))
        await backend.waitForRoom(room)
        try await backend.send(Fixtures.outgoing("5", transaction: "t"), to: room)
        // The server accepts it, but the next sync omits it.
        await backend.sendingEnds(in: room)
        server.sync(sync("s2", []))
        server.sync(sync("s3", [Self.text(8), Self.text(9)], gap: "p2"))
        let all = await backend.displayed(in: room) { $0.contains { $0.id == MessageID("$5") } && $0.last?.text == "9" }
        #expect(all.map(\.text).suffix(6) == ["4", "5", "6", "7", "8", "9"])
        #expect(all.allSatisfy { $0.delivery == .sent })
        #expect(server.paths.filter { $0.hasSuffix("/messages") }.count == 2, "nothing beyond it is asked for")
        await backend.close()
        await store.close()
    }

    /// The sync delivered it, and the process was killed before the response to the send.
    @Test func syncedMessageStillInTheOutboxIsShownOnce() async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        func start() async throws -> MatrixBackend {
            try await MatrixBackend.start(
                over: store, server: URL(filePath: "/"), ownUserID: MemberID(own), token: nil,
                transport: FakeHomeserver { _ in nil })
        }
        func ingest(_ events: [TimelineEvent]) async throws {
            var batch = RoomBatch(
                id: room, createdAt: Fixtures.date, members: [Member(id: MemberID(own), displayName: "Me", kind: .own)],
                events: events)
            batch.state = .unencrypted
            _ = try await store.apply(SyncBatch(rooms: [batch]))
        }
        try await ingest([])
        let first = try await start()
        try await first.send(Fixtures.outgoing("Once", transaction: "t"), to: room)
        try await first.send(Fixtures.outgoing("On its way", transaction: "u"), to: room)
        await first.close()
        let message = NewMessage(
            id: MessageID("$1"), sender: MemberID(own), text: "Once", sentAt: Fixtures.date,
            transactionID: TransactionID("t"))
        try await ingest([.message(message)])
        let second = try await start()
        let shown = await second.displayed(in: room) { $0.contains { $0.text == "On its way" } }
        #expect(shown.map(\.text) == ["Once", "On its way"] && shown.first?.id == MessageID("$1"))
        await second.close()
        await store.close()
    }

    @Test func messageInTheNextSyncIsNotSearchedFor() async throws {
        let server = FakeHomeserver { request in request.method == .put ? ["event_id": "$5"] : nil }
        let folder = TemporaryFolder()
        let (backend, store) = try await start(server, folder)
        server.sync(sync("s1", [Self.text(1)], gap: "p1"))
        await backend.waitForRoom(room)
        try await backend.send(Fixtures.outgoing("5", transaction: "t"), to: room)
        await backend.sendingEnds(in: room)
        server.sync(sync("s2", [Self.text(5, by: own)]))
        server.sync(sync("s3", [Self.text(6)]))
        let all = await backend.displayed(in: room) { $0.last?.text == "6" }
        #expect(all.map(\.text) == ["1", "5", "6"])
        #expect(!server.paths.contains { $0.hasSuffix("/messages") })
        await backend.close()
        await store.close()
    }

    /// A server may respond to a send before its sync includes it, while the only gap is before all known history.
    @Test func searchForAMissingEchoIsBounded() async throws {
        let server = FakeHomeserver { request in
            if request.method == .put { return ["event_id": "$5"] }
            guard request.url.path.hasSuffix("/messages") else { return nil }
            let event = Events.text("$\(UUID())", "old", at: Self.time - 7_200_000)
            return ["chunk": [event], "end": .string("\(UUID())")]
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await start(server, folder)
        server.sync(sync("s1", [Self.text(1)], gap: "p1"))
        await backend.waitForRoom(room)
        try await backend.send(Fixtures.outgoing("5", transaction: "t"), to: room)
        await backend.sendingEnds(in: room)
        // One sync that may have been in flight, and three that omit the message.
        for number in 2...5 { server.sync(sync("s\(number)", [Self.text(number + 10)])) }
        let late = await backend.displayed(in: room) { $0.dropLast().last?.text == "15" }
        #expect(late.last?.delivery == .sending)
        #expect(server.paths.filter { $0.hasSuffix("/messages") }.count == 1)
        server.sync(sync("s6", [Self.text(5, by: own)]))
        let all = await backend.displayed(in: room) { $0.last?.text == "5" && $0.last?.delivery == .sent }
        #expect(all.filter { $0.text == "5" }.count == 1)
        await backend.close()
        await store.close()
    }

    /// After a restart the client repeats a send whose response was lost and gets the same event ID; the event is in a
    /// gap that a limited sync left meanwhile.
    @Test func echoFromBeforeARestartIsFound() async throws {
        let folder = TemporaryFolder()
        let silent = FakeHomeserver { _ in nil }
        let (first, firstStore) = try await start(silent, folder)
        silent.sync(sync("s1", [Self.text(1)]))
        try await silent.waitUntilConsumed()
        await first.outbox.setOnline(false)
        try await first.send(Fixtures.outgoing("5", transaction: "t"), to: room)
        await first.close()
        await firstStore.close()
        let server = FakeHomeserver { request in
            if request.method == .put { return ["event_id": "$5"] }
            guard request.url.path.hasSuffix("/messages") else { return nil }
            return Self.page([1, 2, 3, 4, 5, 6], end: "p3", own: [5])
        }
        let (backend, store) = try await start(server, folder)
        server.sync(sync("s2", [Self.text(7)], gap: "p2"))
        await backend.sendingEnds(in: room)
        server.sync(sync("s3", []))
        server.sync(sync("s4", []))
        let all = await backend.displayed(in: room) { $0.contains { $0.id == MessageID("$5") } && $0.last?.text == "7" }
        #expect(all.map(\.text).suffix(6) == ["2", "3", "4", "5", "6", "7"])
        #expect(all.allSatisfy { $0.delivery == .sent })
        await backend.close()
        await store.close()
    }

    // MARK: Complete history

    private func goOnline(_ backend: MatrixBackend) async {
        for await state in backend.connectionStates() where state == .online { return }
    }

    @Test func wholeHistoryIsFetched() async throws {
        let server = FakeHomeserver { request in
            guard request.url.path.hasSuffix("/messages") else { return nil }
            let from = request.url.query() ?? ""
            return from.contains("from=p2&") ? Self.page([3, 4], end: "p3") : Self.page([1, 2], end: nil)
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await start(server, folder)
        server.sync(sync("s1", [Self.text(5), Self.text(6)], gap: "p2"))
        await backend.waitForRoom(room)
        await goOnline(backend)
        let reported = Mutex<[Int]>([])
        #expect(try await backend.fetchHistory(of: room) { count in reported.withLock { $0.append(count) } } == nil)
        #expect(reported.withLock { $0 } == [2, 4])
        let all = try await store.messages(in: room, after: .min, limit: 100).messages
        #expect(all.map(\.text) == ["1", "2", "3", "4", "5", "6"])
        await backend.close()
        await store.close()
    }

    @Test func failureToFetchHistoryIsReported() async throws {
        let server = FakeHomeserver { request in
            guard request.url.path.hasSuffix("/messages") else { return nil }
            let isFirst = (request.url.query() ?? "").contains("from=p2&")
            return isFirst ? Self.page([3, 4], end: "p3") : nil
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await start(server, folder)
        server.sync(sync("s1", [Self.text(5), Self.text(6)], gap: "p2"))
        await backend.waitForRoom(room)
        await goOnline(backend)
        let start = try #require(try await backend.fetchHistory(of: room) { _ in })
        let all = try await store.messages(in: room, after: start - 1, limit: 100).messages
        #expect(all.map(\.text) == ["3", "4", "5", "6"])
        await backend.close()
        await store.close()
    }
}
