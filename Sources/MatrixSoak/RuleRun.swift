import ChatCore
import ChatStore
import Foundation
import JSONReading
import MatrixBackend
import SeededRandom
import SoakSupport

/// Tells a backend random syncs: rules of what the user is told of, rooms whose people, names and powers change,
/// messages of every kind, deletions and read marks. Its counts of unread messages and of mentions are compared with a
/// count from the beginning by ``RuleOracle``. Each sequence is a room's.
struct RuleRun {
    static let own = "@me:a"
    private static let rooms = 100

    let count: Int
    let seed: UInt64

    func run() async throws -> Bool {
        print("\(count) sequences, seed \(seed)")
        var (done, wrong, told, counted) = (0, 0, 0, 0)
        while done < count {
            let rooms = min(Self.rooms, count - done)
            let outcome = try await tell(rooms, seed: seed &+ UInt64(done))
            wrong += outcome.wrong
            told += outcome.told
            counted += outcome.counted
            done += rooms
        }
        print("\(told) messages, \(counted) of them counted in the end")
        SoakReport(name: "unread-counts-by-rules", value: done - wrong, unit: "sequences", target: done).print()
        // Rules that never count anything prove nothing.
        return wrong == 0 && counted * 50 > told
    }

    private func tell(_ rooms: Int, seed: UInt64) async throws -> RuleServer.Outcome {
        let folder = SoakFolder()
        defer { folder.remove() }
        let store = try await ChatStore.open(in: folder.url)
        let server = RuleServer(store: store, rooms: rooms, seed: seed)
        guard let url = URL(string: "http://127.0.0.1") else { throw SoakFailure("no address") }
        let backend = try await MatrixBackend.start(
            over: store, server: url, own: MemberID(Self.own), token: AccessToken("t"), hasSlidingSync: false,
            transport: RuleTransport(server: server))
        let outcome = try await server.outcome()
        await backend.close()
        await store.close()
        return outcome
    }
}

/// Asks the server for each sync; there is nothing else to be had.
private struct RuleTransport: MatrixTransport {
    let server: RuleServer

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        guard request.url.path.hasSuffix("/sync") else {
            return MatrixResponse(status: 404, body: Data(#"{"errcode":"M_NOT_FOUND"}"#.utf8))
        }
        return MatrixResponse(status: 200, body: try JSONEncoder().encode(await server.next()))
    }
}

/// Answers syncs with what it draws. Whoever asks for the next answer has taken in the one before.
actor RuleServer {
    struct Outcome: Sendable {
        var wrong: Int
        var told: Int
        var counted: Int
    }

    private static let rounds = 6

    private let store: ChatStore
    private var random: RandomRules<SeededGenerator>
    private var oracle = RuleOracle(content: .null)
    private var rooms: [RuleRoom]
    private var wrong: Set<Int> = []
    private var round = 0
    private var result: Result<Outcome, any Error>?
    private var waiting: CheckedContinuation<Outcome, any Error>?

    init(store: ChatStore, rooms: Int, seed: UInt64) {
        self.store = store
        self.rooms = (0..<rooms).map { RuleRoom(id: "!\($0)") }
        random = RandomRules(SeededGenerator(seed: seed))
    }

    func outcome() async throws -> Outcome {
        if let result { return try result.get() }
        return try await withCheckedThrowingContinuation { waiting = $0 }
    }

    /// - Throws: `CancellationError` behind the last one.
    func next() async throws -> JSONValue {
        do {
            if round > 0 { try await compare() }
        } catch {
            finish(.failure(error))
            throw CancellationError()
        }
        guard round < Self.rounds else {
            let counted = rooms.reduce(0) { $0 + $1.counts[0] }
            let told = rooms.reduce(0) { $0 + $1.said.count }
            finish(.success(Outcome(wrong: wrong.count, told: told, counted: counted)))
            throw CancellationError()
        }
        round += 1
        return answer()
    }

    private func finish(_ result: Result<Outcome, any Error>) {
        guard self.result == nil else { return }
        self.result = result
        waiting?.resume(with: result)
    }

    private func compare() async throws {
        let summaries = try await store.roomSummaries()
        guard summaries.count == rooms.count else { throw SoakFailure("\(summaries.count) rooms") }
        for summary in summaries {
            guard let place = Int(summary.id.rawValue.dropFirst()) else { continue }
            let (counted, expected) = ([summary.unreadCount, summary.mentionCount], rooms[place].counts)
            guard counted != expected, wrong.insert(place).inserted else { continue }
            print("room \(place), sync \(round): \(counted) unread messages and mentions instead of \(expected)")
        }
    }

    private func answer() -> JSONValue {
        var answer: [String: JSONValue] = ["next_batch": .string("s\(round)")]
        if round == 1 || random.once(in: 2) {
            oracle.content = random.rules(rooms: rooms.count)
            answer["account_data"] = ["events": [["type": "m.push_rules", "content": oracle.content]]]
        }
        var joined: [String: JSONValue] = [:]
        for place in rooms.indices { joined[rooms[place].id] = rooms[place].extend(by: oracle, &random) }
        answer["rooms"] = ["join": .object(joined)]
        return .object(answer)
    }
}
