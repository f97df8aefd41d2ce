import ChatCore
import ChatOutbox
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import ChatStore
@testable import MatrixBackend

/// Whichever access to the store fails, an encrypted room is never mistaken for an unencrypted one.
@Suite(.timeLimit(.minutes(10))) struct FailingStoreTests {
    private static let room = RoomID("!room:example.org")
    private static let own = MemberID("@me:example.org")
    private let folder = TemporaryFolder()

    /// Makes one access to a store fail.
    private final class Failure: Sendable {
        private let accesses = Mutex(0)

        /// The number of accesses so far.
        var count: Int { accesses.withLock { $0 } }

        init(ofAccess number: Int, to store: ChatStore) {
            store.beforeAccess.withLock {
                $0 = { [self] in
                    let isIt = accesses.withLock { count in
                        count += 1
                        return count == number
                    }
                    if isIt { throw ChatError.storage(reason: "failed on purpose") }
                }
            }
        }

        func end(in store: ChatStore) { store.beforeAccess.withLock { $0 = {} } }
    }

    private static let encryption = Events.event(
        "$e", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: "")
    private static let creation = Events.event("$c", "m.room.create", [:], stateKey: "")

    private func sync(_ token: String, _ events: [JSONValue]) -> JSONValue {
        [
            "next_batch": .string(token),
            "rooms": ["join": .object([Self.room.rawValue: ["timeline": ["events": .array(events)]]])],
        ]
    }

    @Test("No failing access makes the outbox send into an encrypted room", arguments: [false, true])
    func outboxNeverSendsToAnEncryptedRoom(isKnown: Bool) async throws {
        var number = 1
        while true {
            let store = try await ChatStore.open(in: folder.path("store\(number)"))
            var batch = RoomBatch(id: Self.room, createdAt: Fixtures.date)
            batch.state = RoomState()
            if isKnown { batch.state?.encryption = .on }
            _ = try await store.apply(SyncBatch(rooms: [batch]))
            let transport = FakeTransport { request in
                let isState = request.url.path.contains("/state/m.room.encryption")
                return MatrixResponse(status: 200, body: Data((isState ? "{}" : #"{"event_id":"$1"}"#).utf8))
            }
            let keys = AccountEncryption(
                user: Self.own, client: transport.client, folder: store.folder, clock: ManualClock(),
                now: { Fixtures.date })
            let media = MatrixMedia(client: transport.client, store: store, now: { Fixtures.date })
            let backend = MatrixOutboxBackend(
                client: transport.client, store: store, context: .untranslated(of: Self.own), syncStatus: SyncStatus(),
                keys: keys, media: media, gate: SerialGate()
            ) { _, _ in }
            let failure = Failure(ofAccess: number, to: store)
            let request = OutboxRequest(
                id: TransactionID("t"), room: Self.room, action: .send(WrittenMessage("x")), queuedAt: Fixtures.date)
            for _ in 0..<2 { await #expect(throws: (any Error).self) { try await backend.deliver(request) } }
            let count = failure.count
            failure.end(in: store)
            #expect(!transport.requests.contains { $0.method == .put }, "access \(number)")
            #expect(try await store.roomState(of: Self.room).encryption == .on, "access \(number)")
            await store.close()
            if count < number { break }
            number += 1
        }
        #expect(number > 3)
    }

    @Test("No failing access makes a sync lose a room's encryption", arguments: [false, true])
    func syncNeverLosesEncryption(isKnown: Bool) async throws {
        for number in 1...30 {
            let server = FakeHomeserver { request in request.method == .put ? ["event_id": "$sent"] : nil }
            let store = try await ChatStore.open(in: folder.path("store\(number)"))
            let backend = try await MatrixBackend.start(
                over: store, server: URL(filePath: "/"), ownUserID: Self.own, token: AccessToken("secret"),
                hasSlidingSync: false, transport: server, clock: NonWaitingClock())
            let member = Events.member(Self.own.rawValue, "Me")
            server.sync(sync("s1", [Self.creation, member] + (isKnown ? [Self.encryption] : [])))
            try await server.waitUntilConsumed()
            let failure = Failure(ofAccess: number, to: store)
            for _ in 0..<2 {
                server.sync(
                    sync(
                        "s2",
                        [Events.text("$1", "x"), Events.member("@ann:example.org", "Ann")]
                            + (isKnown ? [] : [Self.encryption])))
            }
            try await server.waitUntilConsumed()
            for _ in 0..<2 {
                // The message is queued until there are keys, unless queueing is the access that fails.
                _ = try? await backend.send(Fixtures.outgoing("Secret"), to: Self.room)
            }
            #expect(failure.count > 3)
            failure.end(in: store)
            #expect(!server.requests.contains { $0.method == .put }, "access \(number)")
            let after = try await store.roomState(of: Self.room).encryption
            #expect(after == .on, "access \(number)")
            await backend.close()
            await store.close()
        }
    }
}

extension FailingStoreTests {
    @Test("Whichever access fails, a room that is marked as read again is read on the server", arguments: 1...4)
    func readMarkerIsSent(number: Int) async throws {
        let folder = TemporaryFolder()
        let server = FakeHomeserver { request in
            request.url.path.hasSuffix("/read_markers") ? JSONValue.object([:]) : nil
        }
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", [Events.text("$1", "x")]))
        try await server.waitUntilConsumed()
        let failure = Failure(ofAccess: number, to: store)
        // It may fail.
        try? await backend.markRead(MessageID("$1"), in: Self.room)
        failure.end(in: store)
        try await backend.markRead(MessageID("$1"), in: Self.room)
        try await server.receives("/read_markers")
        await backend.close()
        await store.close()
    }
}

/// A clock whose sleeps return at once.
struct NonWaitingClock: Clock {
    var now: ContinuousClock.Instant { ContinuousClock().now }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        await Task.yield()
    }
}

extension RoomState {
    /// The state of a room that is known not to be encrypted.
    static var unencrypted: RoomState {
        var state = RoomState()
        state.encryption = .off
        return state
    }
}
