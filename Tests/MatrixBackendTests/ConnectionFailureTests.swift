import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Messages that cannot be sent yet: the account is signed out, or the server does not respond.
@Suite(.timeLimit(.minutes(10))) struct ConnectionFailureTests {
    private let room = RoomID("!room:example.org")
    private let folder = TemporaryFolder()

    private static func first(_ room: RoomID) -> JSONValue {
        [
            "next_batch": "s1",
            "rooms": [
                "join": [
                    room.rawValue: [
                        "state": ["events": [Events.event("$c", "m.room.create", [:], stateKey: "")]],
                        "timeline": [
                            "events": [
                                [
                                    "type": "m.room.name", "event_id": "$n", "sender": "@me:example.org",
                                    "origin_server_ts": 1_700_000_000_000, "state_key": "",
                                    "content": ["name": "Garden"],
                                ],
                                [
                                    "type": "m.room.message", "event_id": "$1", "sender": "@ann:example.org",
                                    "origin_server_ts": 1_700_000_000_000,
                                    "content": ["msgtype": "m.text", "body": "Hello"],
                                ],
                            ], "limited": false,
                        ],
                    ]
                ]
            ],
        ]
    }

    /// A pending sync responds only after up to 30 s: any other request that fails ends the session sooner.
    @Test func anyUnauthorizedResponseSignsOut() async throws {
        let server = FakeHomeserver { request in
            request.url.path.contains("m.room.topic")
                ? ["errcode": "M_UNKNOWN_TOKEN", "status": 401, "soft_logout": true] : [:]
        }
        let (backend, store) = try await server.start(in: folder)
        server.sync(Self.first(room))
        await backend.waitForRoom(room)
        await #expect(throws: ChatError.signedOut) { try await backend.setTopic("Beans", of: room) }
        for await connection in backend.connectionStates() where connection == .signedOut(isSoft: true) { break }
        await backend.close()
        await store.close()
    }

    @Test("Nobody is typing any more once the server does not respond, as it would not say who stops")
    func typingEndsOffline() async throws {
        let (clock, ann) = (ManualClock(), MemberID("@ann:example.org"))
        let store = try await ChatStore.open(in: folder.path("store"))
        _ = try await store.apply(SyncBatch(rooms: [RoomBatch(id: room, name: "Garden", createdAt: Fixtures.date)]))
        let backend = try await MatrixBackend.start(
            over: store, server: URL(filePath: "/"), ownUserID: MemberID("@me:example.org"),
            token: AccessToken("secret"), hasSlidingSync: false,
            transport: FakeTransport { _ in throw MatrixError.unreachable(reason: "no route") }, clock: clock)
        // The first failure does not mean being offline.
        await clock.waitForSleepers()
        backend.writer.timelines.setTyping([ann], in: room)
        var typing: [[MemberID]] = []
        for await update in backend.timeline(of: room, limit: 10) {
            guard case .typing(let users) = update else { continue }
            typing.append(users)
            if users.isEmpty { break }
            clock.advance(by: .seconds(60))
        }
        #expect(typing == [[ann], []])
        await backend.close()
        await store.close()
    }

    /// Responds to each sync after a moment. Those of ``FakeHomeserver`` end with the first that is canceled.
    private struct PromptHomeserver: MatrixTransport {
        func send(_ request: MatrixRequest) async throws -> MatrixResponse {
            guard request.url.path.hasSuffix("/sync") else { return MatrixResponse(status: 404, body: Data("{}".utf8)) }
            try await Task.sleep(for: .milliseconds(1))
            return MatrixResponse(status: 200, body: Data(#"{"next_batch":"s"}"#.utf8))
        }
    }

    @Test("A rejection of the earlier token that is handled late does not end the session that has begun")
    func rejectionConcernsItsSession() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let session = MatrixSession(user: MemberID("@me:example.org"), device: "D", token: AccessToken("0"))
        let backend = try await MatrixBackend.start(
            over: store, server: Homeserver(url: URL(filePath: "/"), versions: ["v1.11"], features: []),
            session: session, transport: PromptHomeserver())
        for number in 1...300 {
            backend.client.credential.reportRejection(backend.client.token, isSoft: false)
            await backend.resume(with: AccessToken("\(number)"))
            for await connection in backend.connectionStates() where connection == .online { break }
        }
        await backend.close()
        await store.close()
    }

    @Test func pendingMessageIsTheRoomsLastMessage() async throws {
        let isForbidden = Mutex(false)
        let server = FakeHomeserver { request in
            guard request.method == .put, request.url.path.contains("/send/") else { return [:] }
            return isForbidden.withLock { $0 }
                ? ["errcode": "M_FORBIDDEN", "error": "no", "status": 403]
                : ["errcode": "M_UNKNOWN", "status": 502]
        }
        let (backend, store) = try await server.start(in: folder, at: 1_700_000_100_000)
        server.sync(Self.first(room))
        await backend.waitForRoom(room)
        func last(where condition: (RoomSummary.LastMessage) -> Bool) async -> RoomSummary? {
            for await rooms in backend.roomSummaries() {
                if let room = rooms.first, let last = room.lastMessage, condition(last) { return room }
            }
            return nil
        }
        let before = await last { $0.delivery == .sent }
        #expect(before?.lastMessage?.text == "Hello")
        try await backend.send(WrittenMessage("On its way"), as: TransactionID("t"), to: room)
        let waiting = await last { $0.delivery == .sending }
        #expect(waiting?.lastMessage?.text == "On its way" && waiting?.lastMessage?.isOwn == true)
        #expect(waiting?.lastActivity == Date(timeIntervalSince1970: 1_700_000_100))
        isForbidden.withLock { $0 = true }
        try await backend.retry(nil, in: room)
        #expect(await last { $0.delivery == .failed }?.lastMessage?.text == "On its way")
        try await backend.discard(nil, in: room)
        #expect(await last { $0.delivery == .sent }?.lastMessage?.text == "Hello")
        await backend.close()
        await store.close()
    }

    /// A plain-text server may take the TLS handshake for an unfinished line and wait for the rest.
    @Test func silentServerTimesOutSoon() async throws {
        let server = try ScriptedServer([.hang])
        defer { server.stop() }
        let curl = CurlTransport()
        defer { curl.close() }
        let transport = TimeoutRecorder(transport: curl)
        let address = try #require(server.url.host()) + ":\(try #require(server.url.port))"
        await #expect(throws: Discovery.Problem.self) {
            _ = try await Discovery(transport: transport).homeserver(for: address)
        }
        #expect(transport.timeouts.withLock { $0 }.allSatisfy { $0 == .seconds(4) })
        // Cancellation must throw `CancellationError`, not a timeout.
        let asking = Task { try await Discovery(transport: transport).homeserver(for: address) }
        asking.cancel()
        await #expect(throws: CancellationError.self) { _ = try await asking.value }
    }
}

/// Records the connect timeout of each request.
private final class TimeoutRecorder: MatrixTransport {
    let transport: CurlTransport
    let timeouts = Mutex<[Duration]>([])

    init(transport: CurlTransport) { self.transport = transport }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        timeouts.withLock { $0.append(request.connectTimeout) }
        return try await transport.send(request)
    }
}
