import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// An account whose sync responses exceed the accepted size.
@Suite(.timeLimit(.minutes(10))) struct SyncWindowTests {
    private func start(
        _ server: BoundedServer, in folder: TemporaryFolder, sliding: Bool, token: String? = nil
    ) async throws -> (MatrixBackend, ChatStore) {
        let store = try await ChatStore.open(in: folder.path("store"))
        if let token { try await store.setSetting(token, for: "matrix.sync.sliding") }
        let backend = try await MatrixBackend.start(
            over: store, server: URL(filePath: "/"), ownUserID: MemberID("@me:example.org"),
            token: AccessToken("secret"),
            hasSlidingSync: sliding, transport: server, clock: NonWaitingClock())
        return (backend, store)
    }

    private func catchUp(_ backend: MatrixBackend, _ server: BoundedServer) async throws {
        while true {
            if backend.syncStatus.hasCaughtUp, backend.connection.current == .online, server.isWaiting { return }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func initialSlidingSyncShrinksItsWindow() async throws {
        let server = BoundedServer(rooms: 60, maxEvents: 60)
        let folder = TemporaryFolder()
        let (backend, store) = try await start(server, in: folder, sliding: true)
        try await catchUp(backend, server)
        #expect(try await store.roomSummaries().count == 60)
        let asked = server.requests.prefix(5)
        #expect(asked.map(\.rooms) == [20, 20, 20, 5, 10])
        #expect(asked.map(\.events) == [20, 20, 5, 1, 1])
        await backend.close()
        await store.close()
    }

    /// Fewer rooms per request suffice, and events already received are not requested again.
    @Test func catchingUpContinuesFromTheSamePosition() async throws {
        let server = BoundedServer(rooms: 150, maxEvents: 1000)
        let folder = TemporaryFolder()
        let (backend, store) = try await start(server, in: folder, sliding: true, token: "100000:p")
        try await catchUp(backend, server)
        #expect(try await store.roomSummaries().count == 150)
        let asked = server.requests
        #expect(asked.prefix(3).map(\.rooms) == [100_000, 20, 40])
        #expect(asked.allSatisfy { $0.events == 20 && $0.token != nil })
        #expect(asked.count < 40, "\(asked.count) requests")
        await backend.close()
        await store.close()
    }

    @Test func plainSyncRequestsFewerEvents() async throws {
        let server = BoundedServer(rooms: 20, maxEvents: 100, idleAnswers: 7)
        let folder = TemporaryFolder()
        let (backend, store) = try await start(server, in: folder, sliding: false)
        try await catchUp(backend, server)
        #expect(try await store.roomSummaries().count == 20)
        // And the window grows again once there is less to return.
        #expect(server.requests.map(\.events) == [30, 10, 5, 5, 5, 5, 10, 10, 10, 10, 30])
        await backend.close()
        await store.close()
    }

    @Test(
        "A response that comes too late, from the server or through a gateway, makes the next request smaller",
        arguments: Excess.allCases)
    func lateResponsesShrinkTheWindow(excess: Excess) async throws {
        let plain = BoundedServer(rooms: 20, maxEvents: 100, excess: excess)
        let sliding = BoundedServer(rooms: 150, maxEvents: 1000, excess: excess)
        for server in [plain, sliding] {
            let folder = TemporaryFolder()
            let (backend, store) = try await start(
                server, in: folder, sliding: server === sliding, token: server === sliding ? "100000:p" : nil)
            try await catchUp(backend, server)
            #expect(try await store.roomSummaries().count == (server === sliding ? 150 : 20))
            await backend.close()
            await store.close()
        }
        #expect(plain.requests.prefix(3).map(\.events) == [30, 10, 5])
        #expect(sliding.requests.prefix(3).map(\.rooms) == [100_000, 20, 40])
    }

    @Test("A catch-up may take minutes, but not be silent for long beyond the time for which the server waits")
    func timeouts() async throws {
        let transport = FakeTransport { request in
            let body = request.method == .get ? #"{"next_batch":"s"}"# : #"{"pos":"p"}"#
            return MatrixResponse(status: 200, body: Data(body.utf8))
        }
        for wait in [Duration.zero, .seconds(30)] {
            _ = try await PlainSync(client: transport.client).next(after: "s", wait: wait)
            _ = try await SlidingSync(client: transport.client).next(after: "100000:p", wait: wait)
            for request in transport.requests.suffix(2) {
                let idle = try #require(request.idleTimeout)
                #expect(idle >= wait + .seconds(60) && request.timeout >= .seconds(900))
            }
        }
    }

    /// If even the smallest response is too large, retries back off and the account is offline.
    @Test func alwaysTooLargeResponsesBackOff() async throws {
        let server = BoundedServer(rooms: 20, maxEvents: 0)
        let folder = TemporaryFolder()
        let clock = ManualClock()
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await MatrixBackend.start(
            over: store, server: URL(filePath: "/"), ownUserID: MemberID("@me:example.org"),
            token: AccessToken("secret"),
            hasSlidingSync: false, transport: server, clock: clock)
        for number in 1...6 {
            await clock.waitForSleepers()
            #expect(server.requests.count == number)
            let isOffline = backend.connection.current == .offline
            #expect(isOffline == (number > 3))
            clock.advance(by: .seconds(60))
        }
        await backend.close()
        await store.close()
    }

    @Test func windowGrowsMoreSlowlyAfterEachShrink() {
        var window = SyncWindow()
        var (isLess, isMore) = (false, window.grow())
        #expect(!isMore)
        for fall in 1...3 {
            isLess = window.shrink()
            #expect(isLess)
            var responses = 0
            repeat {
                isMore = window.grow()
                responses += 1
            } while !isMore
            #expect(responses == 1 << fall)
        }
        for number in 1...4 {
            isLess = window.shrink()
            #expect(isLess == (number < 4))
        }
    }
}

/// What a response beyond the limit is like.
enum Excess: CaseIterable {
    case tooLarge, timeout, gatewayTimeout
}

/// Has a fixed number of rooms and gives no response over `maxEvents` events. Like Synapse, its sliding sync returns a
/// room again if the timeline limit is raised.
private final class BoundedServer: MatrixTransport {
    struct Request {
        var rooms: Int
        var events: Int
        var token: String?
    }

    private struct State {
        var asked: [Request] = []
        /// The number of events returned, by room.
        var delivered: [Int: Int] = [:]
        var idleAnswers: Int
        var isWaiting = false
    }

    private let rooms: Int
    private let maxEvents: Int
    private let excess: Excess
    private let state: Mutex<State>

    /// - Parameter idleAnswers: how often it responds at once although nothing is new.
    init(rooms: Int, maxEvents: Int, idleAnswers: Int = 0, excess: Excess = .tooLarge) {
        self.rooms = rooms
        self.maxEvents = maxEvents
        self.excess = excess
        state = Mutex(State(idleAnswers: idleAnswers))
    }

    var requests: [Request] { state.withLock { $0.asked } }
    var isWaiting: Bool { state.withLock { $0.isWaiting } }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        guard request.url.path.hasSuffix("/sync") else {
            return MatrixResponse(status: 404, body: try JSONValue.object(["errcode": "M_NOT_FOUND"]).encoded())
        }
        let asked = try Self.read(request)
        let found: [Int]? = state.withLock { state in
            state.asked.append(asked)
            let isSliding = request.method == .post
            let news = (0..<min(asked.rooms, rooms)).filter { room in
                state.delivered[room].map { isSliding && $0 < asked.events } ?? true
            }
            guard news.count * asked.events <= maxEvents else { return nil }
            for room in news { state.delivered[room] = asked.events }
            if news.isEmpty, asked.rooms >= rooms {
                state.isWaiting = state.idleAnswers == 0
                state.idleAnswers -= 1
            }
            return news
        }
        guard let news = found else {
            switch excess {
            case .tooLarge: throw TransportError.tooLarge(limit: maxEvents)
            case .timeout: throw TransportError.timedOut
            case .gatewayTimeout: return MatrixResponse(status: 504, body: Data("<html>".utf8))
            }
        }
        if isWaiting { try await Task.sleep(for: .seconds(60)) }
        return MatrixResponse(status: 200, body: try response(news, asked.events, isSliding: request.method == .post))
    }

    private static func read(_ request: MatrixRequest) throws -> Request {
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        func item(_ name: String) -> String? { items.first { $0.name == name }?.value }
        if case .json(let data) = request.body {
            let list = try JSONValue(parsing: data)["lists"]?["all"]
            let last = list?["ranges"]?.array?.first?.array?.last?.integer ?? 0
            return Request(
                rooms: Int(last) + 1, events: Int(list?["timeline_limit"]?.integer ?? 0), token: item("pos"))
        }
        let filter = try JSONValue(parsing: Data((item("filter") ?? "").utf8))
        let limit = filter["room"]?["timeline"]?["limit"]?.integer ?? 0
        return Request(rooms: .max, events: Int(limit), token: item("since"))
    }

    private func response(_ news: [Int], _ events: Int, isSliding: Bool) throws -> Data {
        let delivered = news.map { room in
            let timeline = (0..<events).map { Events.text("$\(room)-\($0)", "\($0)") }
            return ("!\(room):example.org", JSONValue.array(timeline))
        }
        let body: JSONValue
        if isSliding {
            body = [
                "pos": "p", "lists": ["all": ["count": .integer(Int64(rooms))]],
                "rooms": .object(Dictionary(uniqueKeysWithValues: delivered.map { ($0, ["timeline": $1]) })),
            ]
        } else {
            let joined = delivered.map { ($0, ["timeline": ["events": $1]] as JSONValue) }
            body = ["next_batch": "p", "rooms": ["join": .object(Dictionary(uniqueKeysWithValues: joined))]]
        }
        return try body.encoded()
    }
}
