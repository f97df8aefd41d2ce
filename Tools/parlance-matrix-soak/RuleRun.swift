import ChatCore
import ChatStore
import Foundation
import JSONReading
import MatrixBackend
import ToolSupport

/// Whether syncs omit messages, and whether they report counts for the omitted ones.
enum RuleWorld: CaseIterable {
    /// No gaps; rules and rooms change.
    case whole
    /// A plain sync with gaps, whose unread counts include skipped messages.
    case counted
    /// A sliding sync with gaps, without unread counts.
    case uncounted
}

/// Sends random syncs to a backend: push rules, rooms with changing members, names and power levels, messages of all
/// types, redactions of messages and state, and read markers at any event. Two of three worlds use limited syncs, plain
/// and sliding, whose gaps can be fetched. Compares the backend's counts of unread messages and mentions with those of
/// ``RuleOracle``. Each sequence is a room.
struct RuleRun {
    static let ownUserID = "@me:a"
    private static let rooms = 30

    let count: Int
    let seed: UInt64

    func run() async throws -> Bool {
        print("\(count) sequences, seed \(seed)")
        var (done, wrong, messageCount, counted) = (0, 0, 0, 0)
        while done < count {
            let rooms = min(Self.rooms, count - done)
            let result = try await simulate(rooms, seed: seed &+ UInt64(done))
            wrong += result.wrong
            messageCount += result.messageCount
            counted += result.counted
            done += rooms
        }
        print("\(messageCount) messages, \(counted) of them counted in the end")
        SoakReport(name: "unread-counts-by-rules", value: done - wrong, unit: "sequences", target: done).print()
        // If hardly anything is counted, the run proves nothing.
        return wrong == 0 && counted * 50 > messageCount
    }

    private func simulate(_ rooms: Int, seed: UInt64) async throws -> RuleServer.RunResult {
        let folder = SoakFolder()
        defer { folder.remove() }
        let store = try await ChatStore.open(in: folder.url)
        let world = RuleWorld.allCases[Int(seed / UInt64(Self.rooms) % 3)]
        let server = RuleServer(store: store, rooms: rooms, in: world, seed: seed)
        guard let url = URL(string: "http://127.0.0.1") else { throw SoakFailure("no address") }
        let backend = try await MatrixBackend.start(
            over: store, server: url, ownUserID: MemberID(Self.ownUserID), token: AccessToken("t"),
            hasSlidingSync: world == .uncounted,
            transport: RuleTransport(server: server))
        let result = try await server.runResult()
        await backend.close()
        await store.close()
        return result
    }
}

/// Routes sync and history requests to the server; everything else is not found.
private struct RuleTransport: MatrixTransport {
    let server: RuleServer

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        if request.url.path.hasSuffix("/messages") {
            return MatrixResponse(status: 200, body: try JSONEncoder().encode(await server.history(request.url)))
        }
        guard request.url.path.hasSuffix("/sync") else {
            return MatrixResponse(status: 404, body: Data(#"{"errcode":"M_NOT_FOUND"}"#.utf8))
        }
        return MatrixResponse(status: 200, body: try JSONEncoder().encode(await server.next()))
    }
}

/// Answers syncs with random responses. A request for the next response implies that the backend has applied the last
/// one.
actor RuleServer {
    struct RunResult: Sendable {
        var wrong: Int
        var messageCount: Int
        var counted: Int
    }

    private static let rounds = 6

    private let store: ChatStore
    private let world: RuleWorld
    /// Reproduces these rooms alone.
    private let seed: UInt64
    private var random: RandomRules<SeededGenerator>
    private var oracle = RuleOracle(content: .null)
    private var rooms: [RuleRoom]
    private var wrong: Set<Int> = []
    private var round = 0
    /// The number of rooms whose count is incomplete.
    private var open = 0
    private var result: Result<RunResult, any Error>?
    private var waiting: CheckedContinuation<RunResult, any Error>?

    init(store: ChatStore, rooms: Int, in world: RuleWorld, seed: UInt64) {
        self.store = store
        self.world = world
        self.seed = seed
        self.rooms = (0..<rooms).map { RuleRoom(id: "!\($0)", in: world) }
        random = RandomRules(SeededGenerator(seed: seed))
    }

    func runResult() async throws -> RunResult {
        if let result { return try result.get() }
        return try await withCheckedThrowingContinuation { waiting = $0 }
    }

    /// - Throws: `CancellationError` after the last response.
    func next() async throws -> JSONValue {
        do {
            if round == Self.rounds { try await waitForCounts() }
            if round > 0 { try await compare() }
        } catch {
            finish(.failure(error))
            throw CancellationError()
        }
        guard round < Self.rounds else {
            let counted = rooms.reduce(0) { $0 + $1.counts[0] }
            let messageCount = rooms.reduce(0) { $0 + $1.messages.count }
            // A few rooms are never read, or have more history than is fetched.
            if open * 2 > rooms.count { wrong.formUnion(rooms.indices) }
            finish(.success(RunResult(wrong: wrong.count, messageCount: messageCount, counted: counted)))
            throw CancellationError()
        }
        round += 1
        return makeResponse()
    }

    private func finish(_ result: Result<RunResult, any Error>) {
        guard self.result == nil else { return }
        self.result = result
        waiting?.resume(with: result)
    }

    /// Waits for the backend to fetch the gaps, which happens concurrently with syncing.
    private func waitForCounts() async throws {
        guard world == .uncounted else { return }
        var (last, quiet) = (-1, 0)
        while quiet < 20 {
            let open = try await store.uncountedRooms(limit: rooms.count).count
            quiet = open == last ? quiet + 1 : 0
            last = open
            if open == 0 { return }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func history(_ url: URL) -> JSONValue {
        let room = url.pathComponents.dropLast().last.flatMap { Int($0.dropFirst()) }
        let token = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?
            .first { $0.name == "from" }?.value
        guard let room, let token, rooms.indices.contains(room) else { return [:] }
        let page = rooms[room].history(before: token)
        return ["chunk": .array(page.chunk), "end": page.end.map { .string($0) } ?? .null]
    }

    private func compare() async throws {
        let summaries = try await store.roomSummaries()
        guard summaries.count == rooms.count else { throw SoakFailure("\(summaries.count) rooms") }
        for summary in summaries {
            guard let index = Int(summary.id.rawValue.dropFirst()) else { continue }
            try await compareState(of: summary, with: rooms[index].state, at: index)
            let (counted, expected) = ([summary.unreadCount, summary.mentionCount], rooms[index].counts)
            // Skipped messages are counted only after they are fetched; until then the count is a lower bound.
            if world == .uncounted, summary.mayHaveMoreUnread {
                open += round == Self.rounds ? 1 : 0
                continue
            }
            guard counted != expected, wrong.insert(index).inserted else { continue }
            print(
                "seed \(seed), \(world) room \(index), sync \(round): \(counted) unread messages and mentions,",
                "not \(expected)")
        }
    }

    private func compareState(of summary: RoomSummary, with state: RuleState, at index: Int) async throws {
        guard world == .whole else { return }
        let names = summary.room.name.components(separatedBy: ", ").sorted()
        let topic = try await store.roomState(of: summary.id).topic
        guard names != state.names || topic != state.topic, wrong.insert(index).inserted else { return }
        print(
            "seed \(seed), room \(index), sync \(round): \(names) about \(topic ?? "-"),",
            "not \(state.names) about \(state.topic ?? "-")"
        )
    }

    private func makeResponse() -> JSONValue {
        var rules: [JSONValue] = []
        // Skipped messages are evaluated later, so in worlds with gaps the rules must not change.
        if round == 1 || random.once(in: 2) && world == .whole {
            oracle.content = random.rules(rooms: rooms.count)
            rules = [["type": "m.push_rules", "content": oracle.content]]
        }
        let news = rooms.indices.map { rooms[$0].extend(by: oracle, &random) }
        let newsByRoom = Dictionary(uniqueKeysWithValues: zip(rooms.map(\.id), news))
        return world == .uncounted ? sliding(newsByRoom, rules) : plain(newsByRoom, rules)
    }

    private func plain(_ newsByRoom: [String: RuleRoom.News], _ rules: [JSONValue]) -> JSONValue {
        let joined = newsByRoom.mapValues { news -> JSONValue in
            var room: [String: JSONValue] = [
                "state": ["events": .array(news.state)],
                "timeline": [
                    "events": .array(news.timeline), "limited": .bool(news.gap != nil),
                    "prev_batch": news.gap.map { .string($0) } ?? .null,
                ],
                "ephemeral": ["events": [["type": "m.receipt", "content": .object(news.receipts)]]],
            ]
            if let members = news.members {
                room["summary"] = ["m.joined_member_count": .integer(Int64(members))]
            }
            if let read = news.fullyRead {
                room["account_data"] = ["events": [["type": "m.fully_read", "content": ["event_id": .string(read)]]]]
            }
            if world == .counted {
                room["unread_notifications"] = [
                    "notification_count": .integer(Int64(news.counts[0])),
                    "highlight_count": .integer(Int64(news.counts[1])),
                ]
            }
            return .object(room)
        }
        return [
            "next_batch": .string("s\(round)"), "account_data": ["events": .array(rules)],
            "rooms": ["join": .object(joined)],
        ]
    }

    private func sliding(_ newsByRoom: [String: RuleRoom.News], _ rules: [JSONValue]) -> JSONValue {
        let joined = newsByRoom.mapValues { news -> JSONValue in
            var room: [String: JSONValue] = [
                "required_state": .array(news.state), "timeline": .array(news.timeline),
                "limited": .bool(news.gap != nil), "notification_count": 0, "highlight_count": 0,
                "prev_batch": news.gap.map { .string($0) } ?? .null,
            ]
            if let members = news.members { room["joined_count"] = .integer(Int64(members)) }
            return .object(room)
        }
        let receipts = newsByRoom.filter { !$0.value.receipts.isEmpty }
            .mapValues { ["content": .object($0.receipts)] as JSONValue }
        let read = newsByRoom.compactMapValues(\.fullyRead)
            .mapValues { [["type": "m.fully_read", "content": ["event_id": .string($0)]]] as JSONValue }
        return [
            "pos": .string("s\(round)"), "lists": ["all": ["count": .integer(Int64(rooms.count))]],
            "rooms": .object(joined),
            "extensions": [
                "receipts": ["rooms": .object(receipts)],
                "account_data": ["rooms": .object(read), "global": .array(rules)],
            ],
        ]
    }
}
