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
@Suite(.timeLimit(.minutes(10))) struct HistoryTests {
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

    @Test("However many rooms have gaps, all are counted")
    func countingManyRooms() async throws {
        let parts = try await AccountParts.make()
        let others = (1...41).map { number in
            RoomBatch(
                id: RoomID("!\(number):example.org"), name: "Room \(number)", createdAt: Fixtures.date,
                events: [AccountParts.message("$r\(number)", at: Double(number))], gap: "p\(number)")
        }
        _ = try await parts.store.apply(SyncBatch(rooms: others))
        let counted = Mutex<Set<RoomID>>([])
        let counter = UnreadCounter(store: parts.store, clock: ManualClock()) { _, room in
            counted.withLock { _ = $0.insert(room) }
        }
        while counted.withLock({ $0.count }) < 42 {
            await counter.start()
            try await Task.sleep(for: .milliseconds(1))
        }
        await counter.stop()
        #expect(try await parts.store.uncountedRooms(limit: 42).count == 42, "the gaps are still there")
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

    @Test("Counting goes on once the server no longer limits the rate, however often it did")
    func countingWhileLimited() async throws {
        let (parts, clock) = (try await AccountParts.make(), ManualClock())
        let fills = Fills()
        let counter = UnreadCounter(store: parts.store, clock: clock) { gap, _ in
            fills.add(gap)
            if fills.count <= 7 { throw MatrixError.busy(retryAfter: .zero) }
        }
        await counter.start()
        for attempt in 1...7 {
            await clock.waitForSleepers()
            #expect(fills.count == attempt)
            clock.advance(by: .seconds(1))
        }
        while fills.count < 8 { try await Task.sleep(for: .milliseconds(1)) }
        await counter.stop()
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

    /// A room with a message, in which Bob was ignored for a while.
    private func incompleteRoom(_ client: MatrixClient) async throws -> AccountParts {
        let parts = try await AccountParts.make(client)
        let bob = Member(id: MemberID("@bob:example.org"), displayName: "Bob", kind: .person)
        var batch = AccountParts.batch(events: [AccountParts.message("$4", at: 40)])
        batch.members = [bob]
        _ = try await parts.store.apply(SyncBatch(rooms: [batch]))
        try await parts.store.setIgnoredUsers([bob.id])
        try await parts.store.setIgnoredUsers([])
        #expect(try await parts.store.incompleteRooms() == [room])
        return parts
    }

    @Test("Messages of a user who is no longer ignored are fetched, and inserted where they belong")
    func completion() async throws {
        let transport = FakeTransport.responding { request in
            guard request.url.path.hasSuffix("/messages") else { return nil }
            func text(_ id: String, by sender: String = "@bob:example.org") -> JSONValue {
                Events.text(id, id, by: sender)
            }
            if request.url.query()?.contains("from=h3") == true {
                return ["chunk": [text("$2"), text("$1", by: "@ann:example.org")], "end": "h1"]
            }
            return ["chunk": [text("$5"), text("$4", by: "@ann:example.org"), text("$3")], "end": "h3"]
        }
        let parts = try await incompleteRoom(transport.client)
        var updates = await parts.open()
        _ = await updates.next()
        let status = SyncStatus()
        let completer = HistoryCompleter(
            store: parts.store, filler: parts.filler, status: status, clock: ManualClock())
        let first = status.begin()
        while transport.requests.isEmpty { try await pass(completer, after: first) }
        for _ in 0..<10 { try await pass(completer, after: first) }
        #expect(transport.requests.count == 1, "the newest chunk waits for a later sync")
        while try await !parts.store.incompleteRooms().isEmpty { try await pass(completer, after: status.begin()) }
        await completer.stop()
        var shown: [String] = []
        while shown.count < 5, let update = await updates.next() {
            if case .opened(let page, _, _) = update { shown = page.messages.map(\.text) }
        }
        #expect(shown == ["$1", "$2", "$3", "$4", "$5"])
        #expect(transport.requests.count == 2)
        #expect(try await parts.store.gaps(in: room).map(\.token) == ["p1"], "what is older is in a gap")
        await parts.store.close()
    }

    private func pass(_ completer: HistoryCompleter, after sync: Int) async throws {
        await completer.start(after: sync)
        try await Task.sleep(for: .milliseconds(1))
    }

    @Test(
        "What is not there is given up; other rejections wait for the next start, failures for a sync",
        arguments: [(403, "M_FORBIDDEN"), (403, "M_CONSENT_NOT_GIVEN"), (502, "M_UNKNOWN")])
    func completionFailure(status: Int, code: String) async throws {
        let transport = FakeTransport(status, #"{"errcode":"\#(code)"}"#)
        let parts = try await incompleteRoom(transport.client)
        let syncs = SyncStatus()
        let completer = HistoryCompleter(
            store: parts.store, filler: parts.filler, status: syncs, clock: ManualClock())
        let isAbsent = code == "M_FORBIDDEN"
        while transport.requests.count < (status == 502 ? 2 : 1) { try await pass(completer, after: syncs.begin()) }
        while isAbsent, try await !parts.store.incompleteRooms().isEmpty {
            try await pass(completer, after: syncs.begin())
        }
        for _ in 0..<10 { try await pass(completer, after: syncs.begin()) }
        await completer.stop()
        #expect(status == 502 || transport.requests.count == 1)
        #expect(try await parts.store.incompleteRooms().isEmpty == isAbsent)
        await completer.start(after: syncs.begin())
        await parts.store.close()
    }

    @Test("A room whose history cannot be had does not keep others from being completed, and is left at last")
    func completionOfOthers() async throws {
        let failing = RoomID("!failing:example.org")
        let transport = FakeTransport.responding { request in
            guard request.url.path.hasSuffix("/messages") else { return nil }
            if request.url.path.contains("failing") { return ["errcode": "M_UNKNOWN", "status": 502] }
            return ["chunk": [Events.text("$4", "$4", by: "@ann:example.org")]]
        }
        let parts = try await incompleteRoom(transport.client)
        let bob = Member(id: MemberID("@bob:example.org"), displayName: "Bob", kind: .person)
        let batch = RoomBatch(
            id: failing, name: "Failing", createdAt: Fixtures.date,
            members: [Member(id: AccountParts.own, displayName: "Me", kind: .own), bob],
            events: [AccountParts.message("$f", at: 50)])
        _ = try await parts.store.apply(SyncBatch(rooms: [batch]))
        try await parts.store.setIgnoredUsers([bob.id])
        try await parts.store.setIgnoredUsers([])
        #expect(try await parts.store.incompleteRooms() == [failing, room])
        let syncs = SyncStatus()
        let completer = HistoryCompleter(
            store: parts.store, filler: parts.filler, status: syncs, clock: ManualClock())
        func failures() -> Int { transport.requests.filter { $0.url.path.contains("failing") }.count }
        while try await parts.store.incompleteRooms() != [failing] { try await pass(completer, after: syncs.begin()) }
        while failures() < 5 { try await pass(completer, after: syncs.begin()) }
        for _ in 0..<10 { try await pass(completer, after: syncs.begin()) }
        await completer.stop()
        #expect(failures() == 5)
        #expect(try await parts.store.incompleteRooms() == [failing])
        await parts.store.close()
    }

    @Test("While the server limits the rate, a room is given some attempts, a second apart at least")
    func completionLimit() async throws {
        let transport = FakeTransport(429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":0}"#)
        let parts = try await incompleteRoom(transport.client)
        let clock = ManualClock()
        let syncs = SyncStatus()
        let completer = HistoryCompleter(store: parts.store, filler: parts.filler, status: syncs, clock: clock)
        await completer.start(after: syncs.begin())
        for number in 1...3 {
            await clock.waitForSleepers()
            #expect(transport.requests.count == number)
            clock.advance(by: .seconds(1))
        }
        for _ in 0..<10 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(transport.requests.count == 3 && clock.sleeperCount == 0)
        await completer.stop()
        #expect(try await !parts.store.incompleteRooms().isEmpty)
        await parts.store.close()
    }

    @Test("Another list of ignored users discards what was requested before")
    func completionRestart() async throws {
        let transport = FakeTransport.responding { request in
            guard request.url.path.hasSuffix("/messages") else { return nil }
            return ["chunk": [Events.text("$4", "$4", by: "@ann:example.org")]]
        }
        let parts = try await incompleteRoom(transport.client)
        let syncs = SyncStatus()
        let completer = HistoryCompleter(
            store: parts.store, filler: parts.filler, status: syncs, clock: ManualClock())
        let first = syncs.begin()
        while transport.requests.isEmpty { try await pass(completer, after: first) }
        await completer.restart()
        while try await !parts.store.incompleteRooms().isEmpty { try await pass(completer, after: syncs.begin()) }
        await completer.stop()
        #expect(transport.requests.count == 2)
        await parts.store.close()
    }

    private func reader(_ parts: AccountParts, clock: ManualClock = ManualClock()) -> TimelineReader {
        let filler = parts.filler
        return TimelineReader(
            ownUserID: parts.context.ownUserID,
            fetcher: MessageFetcher(client: parts.client, context: parts.context, opener: parts.opener),
            clock: clock, store: parts.store, unsent: parts.unsent, filler: filler,
            targets: TargetLoader(
                client: parts.client, store: parts.store, entered: EnteredRooms(), filler: filler),
            isOnline: { true })
    }

    @Test("A server that is busy and requires no delay is asked for the history again after a second")
    func busyWithoutDelay() async throws {
        let isBusy = Mutex(true)
        let transport = FakeTransport.responding { _ in
            let wasBusy = isBusy.withLock { isBusy in
                defer { isBusy = false }
                return isBusy
            }
            return wasBusy
                ? ["errcode": "M_LIMIT_EXCEEDED", "status": 429, "retry_after_ms": 0] : ["chunk": [], "start": "p1"]
        }
        let parts = try await AccountParts.make(transport.client)
        let clock = ManualClock()
        let reader = reader(parts, clock: clock)
        let fetching = Task { [room] in try await reader.fetchAll(of: room) { _ in } }
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(999))
        #expect(transport.requests.count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await fetching.value == nil)
        #expect(transport.requests.count == 2)
        await parts.store.close()
    }

    @Test("A page ends at a gap that cannot be filled; an empty page is an error")
    func pageAtGap() async throws {
        let parts = try await AccountParts.make(FakeTransport(502).client)
        let reader = reader(parts)
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
