import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Repeated sends after lost responses, to servers that may have forgotten the transaction IDs.
@Suite(.timeLimit(.minutes(10))) struct RepeatedSendTests {
    private static let room = RoomID("!room:example.org")
    private static let own = MemberID("@me:example.org")
    private let folder = TemporaryFolder()
    private let caughtUpStatus = SyncStatus()
    private let deliveries = Deliveries()

    private final class Deliveries: Sendable {
        let ids = Mutex<[MessageID]>([])
    }

    /// - Parameters:
    ///   - transactions: the transaction IDs of messages in the store.
    ///   - gap: the token of the gap before them.
    ///   - prepare: changes the store.
    private func backend(
        _ transport: FakeTransport, has transactions: [String] = [], gap: String? = nil,
        _ prepare: (ChatStore) async throws -> Void = { _ in }
    ) async throws -> MatrixOutboxBackend {
        let store = try await ChatStore.open(in: folder.path("store"))
        let messages = transactions.map {
            TimelineEvent.message(
                NewMessage(
                    id: MessageID("$" + $0), sender: Self.own, text: $0, sentAt: Fixtures.date,
                    transactionID: TransactionID($0)))
        }
        var batch = RoomBatch(id: Self.room, createdAt: Fixtures.date, events: messages, gap: gap)
        batch.state = .unencrypted
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        try await prepare(store)
        let keys = AccountEncryption(
            user: Self.own, client: transport.client, folder: store.folder, clock: ManualClock(),
            now: { Fixtures.date })
        let media = MatrixMedia(client: transport.client, store: store, now: { Fixtures.date })
        return MatrixOutboxBackend(
            client: transport.client, store: store, context: .untranslated(of: Self.own), syncStatus: caughtUpStatus,
            keys: keys, media: media, gate: SerialGate()
        ) { [deliveries] _, delivery in
            if case .message(let id) = delivery { deliveries.ids.withLock { $0.append(id) } }
        }
    }

    /// Returns a server that accepts every event and has these events in its history.
    /// - Parameters:
    ///   - isEndless: whether page follows page, of the same events.
    ///   - pause: awaited between a request and the response to it.
    private func server(
        _ events: [JSONValue] = [], isEndless: Bool = false,
        pause: @escaping @Sendable (MatrixRequest) async throws -> Void = { _ in }
    ) -> FakeTransport {
        let pages = Mutex(0)
        return FakeTransport(pause: pause) { request in
            if request.method == .put {
                let transaction = request.url.lastPathComponent
                return MatrixResponse(status: 200, body: Data(#"{"event_id":"$\#(transaction)"}"#.utf8))
            }
            if request.url.path.hasSuffix("/messages") {
                let number = pages.withLock { pages in
                    pages += 1
                    return pages
                }
                let page: JSONValue = ["chunk": .array(events), "end": isEndless ? .string("p\(number)") : .null]
                return MatrixResponse(status: 200, body: try page.encoded())
            }
            return MatrixResponse(status: 404, body: Data(#"{"errcode":"M_NOT_FOUND"}"#.utf8))
        }
    }

    private func request(ago minutes: Double = 0, files: Int = 0) -> OutboxRequest {
        let files = (0..<files).map {
            MediaReference(uri: "mxc://a/\($0)", name: "\($0)", type: "a/b")
        }
        return OutboxRequest(
            id: TransactionID("t"), room: Self.room, action: .send(WrittenMessage("x", files: files)),
            queuedAt: Fixtures.date.addingTimeInterval(-60 * minutes))
    }

    private func sent(_ transport: FakeTransport) -> [String] {
        transport.requests.filter { $0.method == .put }.map(\.url.lastPathComponent)
    }

    @Test(arguments: [0, 3000.0]) func syncedMessageIsNotSentAgain(ago minutes: Double) async throws {
        let server = server()
        let backend = try await backend(server, has: ["t"])
        #expect(try await backend.deliver(request(ago: minutes)) == MessageID("$t"))
        #expect(server.requests.isEmpty && deliveries.ids.withLock { $0 } == [MessageID("$t")])
    }

    @Test func onlyMissingFilesAreSentAgain() async throws {
        let server = server()
        let backend = try await backend(server, has: ["t", "t.2"])
        #expect(try await backend.deliver(request(files: 4)) == MessageID("$t"))
        #expect(sent(server) == ["t.1", "t.3"])
    }

    @Test func oldRequestWaitsUntilTheSyncHasCaughtUp() async throws {
        let server = server()
        let backend = try await backend(server, has: ["other"])
        await #expect(throws: DeliveryError.unreachable) { _ = try await backend.deliver(request(ago: 30)) }
        #expect(server.requests.isEmpty)
        #expect(try await backend.deliver(request(ago: 10)) == MessageID("$t"), "no server forgets so soon")
        caughtUpStatus.hasCaughtUp = true
        #expect(try await backend.deliver(request(ago: 30)) == MessageID("$t"))
        #expect(sent(server) == ["t", "t"])
    }

    /// What the history has, and what becomes of a request that a former device had attempted.
    struct FormerCase: Sendable, CustomTestStringConvertible {
        enum Outcome { case recognized, sent, uncertain }

        var testDescription: String
        var body: String? = "x"
        var sender = RepeatedSendTests.own.rawValue
        /// The seconds between queuing and the event; the device changes after 540.
        var seconds = 1.0
        var unsigned: JSONValue = [:]
        var isDeleted = false
        /// Whether the store knows the event as that of another request.
        var isOfOtherRequest = false, isAccepted = false
        var wasAttempted = true, failure: String?
        /// The seconds between queuing and the end of the former session; `nil` if that was not noticed.
        var end: TimeInterval?
        var type = "m.room.message"
        /// Whether the history goes on and on.
        var isEndless = false
        var outcome = Outcome.sent
    }

    @Test(arguments: [
        FormerCase(testDescription: "sent by the former device", outcome: .recognized),
        FormerCase(testDescription: "by a server whose clock is slow", seconds: -30, outcome: .recognized),
        FormerCase(testDescription: "another text", body: "y"),
        FormerCase(testDescription: "another user", sender: "@you:example.org"),
        FormerCase(testDescription: "an earlier message", seconds: -90),
        FormerCase(testDescription: "after the device changed", seconds: 620),
        FormerCase(testDescription: "this device", unsigned: ["transaction_id": "u"]),
        FormerCase(testDescription: "another request", isOfOtherRequest: true),
        FormerCase(testDescription: "another request whose echo is missing", isAccepted: true),
        FormerCase(testDescription: "never attempted", wasAttempted: false),
        FormerCase(testDescription: "rejected, and retried", failure: "403 M_FORBIDDEN"),
        FormerCase(
            testDescription: "sent, and then held", failure: DeliveryReason.unreadableKeys.rawValue,
            outcome: .recognized),
        FormerCase(testDescription: "queued after the session had ended", end: -10),
        FormerCase(testDescription: "another message, from after the session had ended", seconds: 200, end: 100),
        FormerCase(testDescription: "sent before the session ended", seconds: 90, end: 100, outcome: .recognized),
        FormerCase(testDescription: "a reaction was removed", body: nil, isDeleted: true, type: "m.reaction"),
        FormerCase(testDescription: "deleted on another device", body: nil, isDeleted: true, outcome: .uncertain),
        FormerCase(testDescription: "too far back", body: "y", isEndless: true, outcome: .uncertain),
    ]) func messageOfAFormerDevice(_ item: FormerCase) async throws {
        var request = request(ago: 10)
        request.wasAttempted = item.wasAttempted
        let time = request.queuedAt.addingTimeInterval(item.seconds).timeIntervalSince1970
        var unsigned = item.unsigned.object ?? [:]
        if item.isDeleted { unsigned["redacted_because"] = ["type": "m.room.redaction"] }
        let content: JSONValue = item.body.map { ["msgtype": "m.text", "body": .string($0)] } ?? [:]
        let event = Events.event(
            "$former", item.type, content, by: item.sender, at: Int64(time * 1000), unsigned: .object(unsigned))
        let server = server([event], isEndless: item.isEndless)
        let backend = try await backend(server, has: item.isOfOtherRequest ? ["former"] : ["other"]) { store in
            if item.isAccepted {
                _ = try await store.setWritten(WrittenText("x"), of: MessageID("$former"), in: Self.room)
            }
            let former = FormerAttempts(store: store)
            try await former.note("OLD", at: Fixtures.date)
            var stored = request
            stored.failure = item.failure
            try await store.commit(OutboxChange(put: [stored]))
            // The first device replaces none.
            #expect(try await former.attempt(of: request, [request.id]) == nil)
            if let end = item.end { try await former.noteEnd(at: request.queuedAt.addingTimeInterval(end)) }
            try await former.note("NEW", at: Fixtures.date.addingTimeInterval(-60))
            try await former.note("NEW", at: Fixtures.date)
        }
        caughtUpStatus.hasCaughtUp = true
        if item.outcome == .uncertain {
            await #expect(throws: DeliveryReason.mayBeSent.error) { _ = try await backend.deliver(request) }
            #expect(sent(server) == [])
        }
        // Trying again after the user was told sends it.
        let expected = item.outcome == .recognized ? "$former" : "$t"
        #expect(try await backend.deliver(request) == MessageID(expected))
        #expect(sent(server) == (item.outcome == .recognized ? [] : ["t"]))
        // As after an end before the request was removed.
        if item.outcome == .recognized { #expect(try await backend.deliver(request) == MessageID(expected)) }
        #expect(deliveries.ids.withLock { Set($0) } == [MessageID(expected)])
        // The event is that of one request only.
        let other = OutboxRequest(
            id: TransactionID("t2"), room: Self.room, action: request.action, queuedAt: request.queuedAt)
        #expect(try await backend.deliver(other) == MessageID("$t2"))
    }

    @Test("A damaged record of what a former device has attempted holds up one message, which the user decides about")
    func damagedRecord() async throws {
        let server = server()
        let backend = try await backend(server) { store in
            try await store.set("{", for: "matrix.formerAttempts", of: Self.room)
            let former = FormerAttempts(store: store)
            try await former.note("OLD", at: Fixtures.date)
        }
        caughtUpStatus.hasCaughtUp = true
        await #expect(throws: DeliveryReason.mayBeSent.error) { _ = try await backend.deliver(request(ago: 1)) }
        #expect(sent(server) == [])
        #expect(try await backend.deliver(request(ago: 1)) == MessageID("$t"))
    }

    @Test("The end of a session stays noted until the server accepts it again")
    func endOfASession() async throws {
        let store = try await ChatStore.open(in: folder.path("other"))
        let former = FormerAttempts(store: store)
        try await former.note("OLD", at: Fixtures.date)
        for begins in [false, true] {
            try await former.noteEnd(at: Fixtures.date)
            // As with each start.
            try await former.note("OLD", at: Fixtures.date + 60)
            if begins { try await former.noteBegun() }
            try await former.noteEnd(at: Fixtures.date + 120)
            let end = Int64((Fixtures.date + (begins ? 120 : 0)).timeIntervalSince1970 * 1000)
            #expect(try await store.setting("matrix.deviceEnd") == "\(end)")
        }
        await store.close()
    }

    @Test("Nothing is sent while a new device cannot be recorded")
    func unrecordedDevice() async throws {
        let store = try await ChatStore.open(in: folder.path("other"))
        let former = FormerAttempts(store: store)
        try await former.note("OLD", at: Fixtures.date)
        await store.close()
        await #expect(throws: (any Error).self) { try await former.note("NEW", at: Fixtures.date) }
        await #expect(throws: DeliveryError.unreachable) {
            _ = try await former.attempt(of: request(ago: 1), [TransactionID("t")])
        }
    }

    @Test("History that the server cannot return does not mean that it has rejected the message")
    func unreadableHistory() async throws {
        let server = FakeTransport.responding { request in
            if request.method == .put { return ["event_id": "$t"] }
            return request.url.path.hasSuffix("/messages") ? ["errcode": "M_INVALID_PARAM", "status": 400] : nil
        }
        let backend = try await backend(server, has: ["other"], gap: "p1")
        caughtUpStatus.hasCaughtUp = true
        await #expect(throws: DeliveryReason.mayBeSent.error) { _ = try await backend.deliver(request(ago: 30)) }
        #expect(sent(server) == [])
        // The user has tried again.
        #expect(try await backend.deliver(request(ago: 30)) == MessageID("$t"))
    }

    /// An event of another request that was sent after the one that is searched for.
    private static let newer = Events.event(
        "$newer", "m.room.message", ["body": "x"], by: RepeatedSendTests.own.rawValue,
        at: Int64(Fixtures.date.timeIntervalSince1970 * 1000), unsigned: ["transaction_id": "u"])

    private func searches(_ transport: FakeTransport) -> Int {
        transport.requests.filter { $0.url.path.hasSuffix("/messages") }.count
    }

    @Test("A message that too long a history may have is not sent until the user tries again")
    func endlessHistory() async throws {
        let server = server([Self.newer], isEndless: true)
        let backend = try await backend(server, has: ["other"], gap: "p0")
        caughtUpStatus.hasCaughtUp = true
        await #expect(throws: DeliveryReason.mayBeSent.error) { _ = try await backend.deliver(request(ago: 30)) }
        #expect(sent(server) == [])
        let count = searches(server)
        // The decision counts for this message alone.
        let other = OutboxRequest(
            id: TransactionID("t2"), room: Self.room, action: request().action, queuedAt: request(ago: 30).queuedAt)
        await #expect(throws: DeliveryReason.mayBeSent.error) { _ = try await backend.deliver(other) }
        #expect(searches(server) == 2 * count)
        #expect(try await backend.deliver(other) == MessageID("$t2"))
        #expect(searches(server) == 2 * count)
    }

    @Test("What was never given to the server is not searched for; what was, and has no answer, is")
    func firstAttempt() async throws {
        let isLost = Mutex(true)
        let server = server([Self.newer], isEndless: true) { request in
            guard request.method == .put, isLost.withLock({ $0 }) else { return }
            throw TransportError.timedOut
        }
        let backend = try await backend(server, has: ["other"], gap: "p0")
        caughtUpStatus.hasCaughtUp = true
        var first = request(ago: 30)
        first.wasAttempted = false
        await #expect(throws: DeliveryError.unreachable) { _ = try await backend.deliver(first) }
        #expect(sent(server) == ["t"] && searches(server) == 0)
        isLost.withLock { $0 = false }
        await #expect(throws: DeliveryReason.mayBeSent.error) { _ = try await backend.deliver(first) }
        #expect(sent(server) == ["t"])
    }

    @Test("History is asked for again where the server rejects such requests for now")
    func blockedHistory() async throws {
        let server = FakeTransport.responding { request in
            request.url.path.hasSuffix("/messages") ? ["errcode": "M_UNRECOGNIZED", "status": 404] : nil
        }
        let backend = try await backend(server, has: ["other"], gap: "p1")
        caughtUpStatus.hasCaughtUp = true
        await #expect(throws: DeliveryError.unreachable) { _ = try await backend.deliver(request(ago: 30)) }
    }

    @Test("A reaction that the sync has not brought cannot be removed on a server that cannot look it up")
    func reactionsThatCannotBeLookedUp() async throws {
        let backend = try await backend(FakeTransport(404, #"{"errcode":"M_UNRECOGNIZED"}"#))
        let request = OutboxRequest(
            id: TransactionID("t"), room: Self.room,
            action: .react(.message(MessageID("$1")), text: "👍", isGiven: false), queuedAt: Fixtures.date)
        await #expect(throws: DeliveryError.rejected(reason: "404 M_UNRECOGNIZED")) {
            _ = try await backend.deliver(request)
        }
    }

    @Test(arguments: [true, false]) func messageSkippedByALimitedSyncIsSearchedFor(isOnServer: Bool) async throws {
        let own = Events.event(
            "$before", "m.room.message", ["body": "x"], by: Self.own.rawValue,
            at: Int64(Fixtures.date.timeIntervalSince1970 * 1000),
            unsigned: ["transaction_id": .string(isOnServer ? "t" : "u")])
        let server = server([own, Events.text("$old", "old")])
        let backend = try await backend(server, has: ["other"], gap: "p1")
        caughtUpStatus.hasCaughtUp = true
        #expect(try await backend.deliver(request(ago: 30)) == MessageID(isOnServer ? "$before" : "$t"))
        #expect(sent(server) == (isOnServer ? [] : ["t"]))
        #expect(server.requests.filter { $0.url.path.hasSuffix("/messages") }.count == 1)
    }
}
