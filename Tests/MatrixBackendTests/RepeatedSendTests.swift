import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
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
        try await prepare(store)
        let messages = transactions.map {
            TimelineEvent.message(
                NewMessage(
                    id: MessageID("$" + $0), sender: Self.own, text: $0, sentAt: Fixtures.date,
                    transactionID: TransactionID($0)))
        }
        var batch = RoomBatch(id: Self.room, createdAt: Fixtures.date, events: messages, gap: gap)
        batch.state = .unencrypted
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        let keys = AccountEncryption(
            user: Self.own, client: transport.client, folder: store.folder, clock: ManualClock(),
            now: { Fixtures.date })
        let media = MatrixMedia(client: transport.client, store: store, now: { Fixtures.date })
        return MatrixOutboxBackend(
            client: transport.client, store: store, context: .untranslated(of: Self.own), syncStatus: caughtUpStatus,
            keys: keys, media: media
        ) { [deliveries] _, delivery in
            if case .message(let id) = delivery { deliveries.ids.withLock { $0.append(id) } }
        }
    }

    /// Returns a server that accepts every event and has these events in its history.
    private func server(_ events: [JSONValue] = []) -> FakeTransport {
        FakeTransport { request in
            if request.method == .put {
                let transaction = request.url.lastPathComponent
                return MatrixResponse(status: 200, body: Data(#"{"event_id":"$\#(transaction)"}"#.utf8))
            }
            if request.url.path.hasSuffix("/messages") {
                let page: JSONValue = ["chunk": .array(events), "end": "p2"]
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

    /// What the history has, beside what was in question.
    struct FormerCase: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var body = "x"
        var sender = RepeatedSendTests.own.rawValue
        var secondsAfterQueuing = 1.0
        var unsigned: JSONValue = [:]
        /// Whether the store knows the event as that of another request.
        var isOfOtherRequest = false
        var wasAttempted = true
        var isQueuedByNewDevice = false
        var isRecognized = false
    }

    @Test(arguments: [
        FormerCase(testDescription: "sent by the former device", isRecognized: true),
        FormerCase(testDescription: "by a server whose clock is slow", secondsAfterQueuing: -30, isRecognized: true),
        FormerCase(testDescription: "another text", body: "y"),
        FormerCase(testDescription: "another user", sender: "@you:example.org"),
        FormerCase(testDescription: "an earlier message", secondsAfterQueuing: -90),
        FormerCase(testDescription: "this device", unsigned: ["transaction_id": "u"]),
        FormerCase(testDescription: "another request", isOfOtherRequest: true),
        FormerCase(testDescription: "never attempted", wasAttempted: false),
        FormerCase(testDescription: "queued by this device", isQueuedByNewDevice: true),
    ]) func messageOfAFormerDeviceIsRecognized(_ item: FormerCase) async throws {
        var request = request(ago: 10)
        request.wasAttempted = item.wasAttempted
        let time = request.queuedAt.addingTimeInterval(item.secondsAfterQueuing).timeIntervalSince1970
        let event = Events.event(
            "$former", "m.room.message", ["msgtype": "m.text", "body": .string(item.body)], by: item.sender,
            at: Int64(time * 1000), unsigned: item.unsigned)
        let server = server([event])
        let backend = try await backend(server, has: item.isOfOtherRequest ? ["former"] : ["other"]) { store in
            let change = DeviceChange(store: store)
            try await change.note("OLD", at: Fixtures.date)
            // The first device replaces none.
            #expect(try await !change.isAfter(request.queuedAt))
            let seconds: Double = item.isQueuedByNewDevice ? -660 : -60
            try await change.note("NEW", at: Fixtures.date.addingTimeInterval(seconds))
            try await change.note("NEW", at: Fixtures.date)
        }
        caughtUpStatus.hasCaughtUp = true
        let expected = item.isRecognized ? "$former" : "$t"
        #expect(try await backend.deliver(request) == MessageID(expected))
        #expect(sent(server) == (item.isRecognized ? [] : ["t"]))
        #expect(deliveries.ids.withLock { $0 } == [MessageID(expected)])
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
