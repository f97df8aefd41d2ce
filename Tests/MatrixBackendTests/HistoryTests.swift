import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import ChatOutbox
@testable import MatrixBackend

/// Filling gaps, and the operations that need it: counting, finding echoes, jumping and paging.
@Suite(.timeLimit(.minutes(5))) struct HistoryTests {
    private let room = AccountParts.room

    /// Records the gaps to fill.
    private final class Fills: Sendable {
        private let made = Mutex<[TimelineGap]>([])

        var count: Int { made.withLock { $0.count } }

        func add(_ gap: TimelineGap) { made.withLock { $0.append(gap) } }
    }

    private func page(_ events: [JSONValue], next: String?) -> FakeTransport {
        var body: [String: JSONValue] = ["chunk": .array(events)]
        body["end"] = next.map { .string($0) }
        // These values can always be encoded.
        let data = try! JSONValue.object(body).encoded()
        return FakeTransport { _ in MatrixResponse(status: 200, body: data) }
    }

    @Test("A gap is filled from its newer end; the rest of it stays a gap")
    func fill() async throws {
        let parts = try await AccountParts.make(
            page([Events.text("$b", "b", at: 2000), Events.text("$a", "a", at: 1000)], next: "p2").client)
        let filler = parts.filler
        let gap = try #require(try await parts.store.gaps(in: room).last)
        let chunk = try await filler.fill(gap, in: room)
        #expect(chunk == GapFiller.Chunk(earliest: Date(timeIntervalSince1970: 1), messages: 2))
        let texts = try await parts.store.messages(in: room, before: .max, limit: 9).messages.map(\.text)
        #expect(texts == ["a", "b", "$1"])
        #expect(try await parts.store.gaps(in: room).map(\.token) == ["p2"])
        #expect(try await !filler.fillForward(gap, in: room), "there is no token for it")
        await parts.store.close()
    }

    @Test("Counting fetches a limited number of chunks, until the room has another gap")
    func countingLimit() async throws {
        let parts = try await AccountParts.make()
        let fills = Fills()
        let counter = UnreadCounter(store: parts.store, clock: ManualClock()) { gap, _ in fills.add(gap) }
        await counter.start()
        while fills.count < 5 { try await Task.sleep(for: .milliseconds(1)) }
        await counter.stop()
        #expect(fills.count == 5)
        await counter.restart(in: room)
        await counter.start()
        await counter.stop()
        #expect(fills.count == 5, "a stopped counter does not start again")
        await parts.store.close()
    }

    @Test("Counting stops when the server rejects a request, and retries other failures", arguments: [true, false])
    func countingFailure(isRejected: Bool) async throws {
        let parts = try await AccountParts.make()
        let fills = Fills()
        let counter = UnreadCounter(store: parts.store, clock: ManualClock()) { gap, _ in
            fills.add(gap)
            throw isRejected
                ? MatrixError.rejected(status: 403, code: "M_FORBIDDEN", reason: "")
                : MatrixError.unreachable(reason: "")
        }
        await counter.start()
        while fills.count < 1 { try await Task.sleep(for: .milliseconds(1)) }
        for _ in 0..<20 {
            await counter.start()
            try await Task.sleep(for: .milliseconds(2))
        }
        await counter.stop()
        #expect(isRejected ? fills.count == 1 : fills.count > 1)
        await parts.store.close()
    }

    @Test("A missing echo is searched for until a chunk is older than its request")
    func missingEcho() async throws {
        let parts = try await AccountParts.make()
        let fills = Fills()
        let missing = MissingEchoes(store: parts.store, unsent: parts.unsent) { gap, _ in
            fills.add(gap)
            return Fixtures.date.addingTimeInterval(fills.count == 3 ? -7200 : 0)
        }
        await missing.find(after: 2)
        #expect(fills.count == 0)
        _ = parts.unsent.update([AccountParts.sent("New", transaction: "t")], in: room)
        parts.unsent.withEchoes { $0.accept(TransactionID("t"), as: MessageID("$5"), in: room, during: 1) }
        await missing.find(after: 1)
        #expect(fills.count == 0, "that sync began before the server had it")
        await missing.find(after: 2)
        #expect(fills.count == 3)
        await missing.find(after: 3)
        #expect(fills.count == 3, "given up until the room gets another gap")
        parts.unsent.withEchoes { $0.restartSearch(in: room) }
        await missing.find(after: 4)
        #expect(fills.count > 3)
        await parts.store.close()
    }

    @Test("A jump waits for the first sync of a room that was just joined")
    func enteredRoom() async throws {
        let entered = EnteredRooms()
        await entered.wait(for: room)
        entered.insert(room)
        let isDone = Mutex(false)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        async let waiting: Void = {
            begin.finish()
            await entered.wait(for: room)
            isDone.withLock { $0 = true }
        }()
        for await _ in begun {}
        #expect(!isDone.withLock { $0 })
        entered.remove(room)
        await waiting
        await entered.wait(for: room)
        entered.insert(room)
        entered.removeAll()
        await entered.wait(for: room)
    }

    @Test("A page ends at a gap that cannot be filled; an empty page is an error")
    func pageAtGap() async throws {
        let parts = try await AccountParts.make(FakeTransport(502).client)
        let filler = parts.filler
        let targets = TargetLoader(
            client: parts.client, store: parts.store, entered: EnteredRooms(), filler: filler)
        let reader = TimelineReader(
            client: parts.client, context: parts.context, opener: parts.opener, clock: ManualClock(),
            store: parts.store, unsent: parts.unsent, filler: filler, targets: targets, isOnline: { true })
        let page = try await reader.messages(in: room, before: .max, limit: 10)
        #expect(page.hasOlder && page.messages.map(\.text) == ["$1"])
        let position = try #require(page.messages.first?.position)
        await #expect(throws: ChatError.unreachable) {
            try await reader.messages(in: room, before: position, limit: 10)
        }
        #expect(try await reader.fetchAll(of: room) { _ in } == position)
        await parts.store.close()
    }

    @Test(
        "A date whose event the user may not see is reached as nearly as possible; one that could not be asked for fails",
        arguments: [(403, "M_FORBIDDEN"), (404, "M_NOT_FOUND"), (404, "M_UNRECOGNIZED"), (502, "M_UNKNOWN")])
    func dateOfAHiddenEvent(status: Int, code: String) async throws {
        let transport = FakeTransport.responding { request in
            let path = request.url.path
            if path.hasSuffix("/timestamp_to_event") { return ["event_id": "$old"] }
            return [
                "errcode": .string(path.contains("/context/") ? code : "M_LIMIT_EXCEEDED"),
                "status": .integer(Int64(path.contains("/context/") ? status : 429)),
            ]
        }
        let parts = try await AccountParts.make(transport.client)
        let loader = TargetLoader(
            client: parts.client, store: parts.store, entered: EnteredRooms(), filler: parts.filler)
        func load() async throws { try await loader.load(.date(.distantPast), in: AccountParts.room) }
        if ["M_FORBIDDEN", "M_NOT_FOUND"].contains(code) {
            try await load()
        } else {
            await #expect(throws: ChatError.self) { try await load() }
        }
        await parts.store.close()
    }
}
