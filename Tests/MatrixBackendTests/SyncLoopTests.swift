import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// The requests and reports of the sync loop, tested without a backend.
@Suite(.timeLimit(.minutes(10))) struct SyncLoopTests {
    /// Records what the loop delegates to its owner.
    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])

        var all: [String] { entries.withLock { $0 } }

        func add(_ entry: String) { entries.withLock { $0.append(entry) } }

        func handlers(storingIn store: ChatStore) -> SyncLoop.Handlers {
            SyncLoop.Handlers(
                advance: { step in
                    let update = try await step.source.next(after: step.token, wait: step.wait)
                    try await store.setSetting(update.token, for: step.setting)
                    self.add("apply \(update.token)")
                    return update.isCaughtUp ? .caughtUp : .hasMore
                },
                willStartOver: { self.add("start over") },
                didApply: { isCaughtUp, number in self.add("applied \(number) \(isCaughtUp)") },
                report: { self.add("\($0)") })
        }
    }

    @Test("Each response is applied before the loop reports the connection; an expired token starts over")
    func responsesAreAppliedBeforeReporting() async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let server = FakeHomeserver { _ in nil }
        let log = Log()
        let status = SyncStatus()
        let client = MatrixClient(server: URL(filePath: "/"), token: AccessToken("secret"), transport: server)
        let loop = SyncLoop(
            client: client, store: store, clock: ManualClock(), status: status, hasSlidingSync: false,
            handlers: log.handlers(storingIn: store))
        await loop.restart()
        server.sync(["next_batch": "s1"])
        try await server.waitUntilConsumed()
        #expect(log.all == ["start over", "apply s1", "applied 1 true", "online"])
        #expect(status.hasCaughtUp)
        server.sync(["errcode": "M_UNKNOWN_POS", "status": 400])
        try await server.waitUntilConsumed()
        #expect(!status.hasCaughtUp)
        #expect(log.all.dropFirst(4) == ["start over"])
        server.sync(["next_batch": "s2"])
        try await server.waitUntilConsumed()
        #expect(log.all.dropFirst(5) == ["apply s2", "applied 3 true", "online"])
        await loop.stop()
        await store.close()
    }

    @Test("An ended session stops the loop")
    func endedSessionStopsTheLoop() async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let transport = FakeTransport(401, #"{"errcode":"M_UNKNOWN_TOKEN","soft_logout":true}"#)
        let log = Log()
        let loop = SyncLoop(
            client: transport.client, store: store, clock: ManualClock(), status: SyncStatus(), hasSlidingSync: true,
            handlers: log.handlers(storingIn: store))
        await loop.restart()
        while log.all.count < 2 { await Task.yield() }
        await loop.stop()
        #expect(log.all == ["start over", "signedOut(isSoft: true)"])
        #expect(transport.requests.count == 1)
        await store.close()
    }

    @Test("Without sliding sync, whichever way the server says so, the other sync goes on", arguments: [400, 404, 405])
    func fallback(status: Int) async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let server = FakeHomeserver { _ in nil }
        let log = Log()
        let client = MatrixClient(server: URL(filePath: "/"), token: AccessToken("secret"), transport: server)
        let loop = SyncLoop(
            client: client, store: store, clock: NonWaitingClock(), status: SyncStatus(), hasSlidingSync: true,
            handlers: log.handlers(storingIn: store))
        server.sync(["errcode": "M_UNRECOGNIZED", "status": .integer(Int64(status))])
        server.sync(["next_batch": "s1"])
        await loop.restart()
        try await server.waitUntilConsumed()
        #expect(log.all == ["start over", "start over", "apply s1", "applied 2 true", "online"])
        await loop.stop()
        await store.close()
    }

    @Test("A server that rejects every request, or each token it has returned, is asked less and less often")
    func lastingRejection() async throws {
        let folder = TemporaryFolder()
        for isAlternating in [false, true] {
            let store = try await ChatStore.open(in: folder.path("\(isAlternating)"))
            let transport = FakeTransport.responding { request in
                let isFirst = request.url.query()?.contains("since=") == false
                return isAlternating && isFirst
                    ? ["next_batch": "s"] : ["errcode": "M_INVALID_PARAM", "status": 400]
            }
            let (log, clock) = (Log(), ManualClock())
            let loop = SyncLoop(
                client: transport.client, store: store, clock: clock, status: SyncStatus(), hasSlidingSync: false,
                handlers: log.handlers(storingIn: store))
            await loop.restart()
            await clock.waitForSleepers()
            #expect(transport.requests.count == (isAlternating ? 4 : 2))
            #expect(log.all.contains("offline") == !isAlternating)
            await loop.stop()
            await store.close()
        }
    }

    @Test("A loop that was stopped does not start again, as when a backend that is being closed is resumed")
    func stoppedLoop() async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let transport = FakeTransport(502)
        let log = Log()
        let loop = SyncLoop(
            client: transport.client, store: store, clock: ManualClock(), status: SyncStatus(), hasSlidingSync: false,
            handlers: log.handlers(storingIn: store))
        await loop.stop()
        await loop.restart()
        for _ in 0..<1000 { await Task.yield() }
        await loop.stop()
        #expect(log.all.isEmpty && transport.requests.isEmpty)
        await store.close()
    }

    @Test("After a failed request, the loop catches up before it waits for changes again")
    func failedPoll() async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let answers = Mutex<[JSONValue]>([["next_batch": "s1"], ["status": 502], ["next_batch": "s2"]])
        let end: JSONValue = ["errcode": "M_UNKNOWN_TOKEN", "status": 401]
        let transport = FakeTransport.responding { _ in
            answers.withLock { $0.isEmpty ? end : $0.removeFirst() }
        }
        let log = Log()
        var handlers = log.handlers(storingIn: store)
        handlers.didCatchUp = { log.add("caught up") }
        let loop = SyncLoop(
            client: transport.client, store: store, clock: NonWaitingClock(), status: SyncStatus(),
            hasSlidingSync: false, handlers: handlers)
        await loop.restart()
        while log.all.last != "signedOut(isSoft: false)" { await Task.yield() }
        await loop.stop()
        #expect(
            log.all == [
                "start over", "apply s1", "caught up", "applied 1 true", "online", "apply s2", "caught up",
                "applied 3 true", "online", "signedOut(isSoft: false)",
            ])
        let waits = transport.requests.map { $0.url.query()?.contains("timeout=30000") }
        #expect(waits == [false, true, false, true])
        await store.close()
    }

    @Test("What is canceled elsewhere does not end the loop")
    func foreignCancellation() async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let server = FakeHomeserver { _ in nil }
        let log = Log()
        var handlers = log.handlers(storingIn: store)
        let advance = handlers.advance
        let isFirst = Atomic(true)
        handlers.advance = { step in
            if isFirst.exchange(false, ordering: .relaxed) { throw CancellationError() }
            return try await advance(step)
        }
        let client = MatrixClient(server: URL(filePath: "/"), token: AccessToken("secret"), transport: server)
        let loop = SyncLoop(
            client: client, store: store, clock: NonWaitingClock(), status: SyncStatus(), hasSlidingSync: false,
            handlers: handlers)
        await loop.restart()
        server.sync(["next_batch": "s1"])
        try await server.waitUntilConsumed()
        #expect(log.all.suffix(3) == ["apply s1", "applied 2 true", "online"])
        await loop.stop()
        await store.close()
    }
}
