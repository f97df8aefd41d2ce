import ChatCore
import ChatStore
import Foundation
import GRDBSQLite
import ToolSupport

/// The speed of storing messages, compared with prepared SQLite statements that insert the same rows.
struct IngestBenchmark {
    let folder: URL

    private static let rooms = 20
    private static let batch = 100
    private static let batches = 15

    func rows() async throws -> [BenchmarkRow] {
        let ingestFolder = folder.appendingPathComponent("ingest", isDirectory: true)
        // A leftover temporary file does no harm.
        defer { try? FileManager.default.removeItem(at: ingestFolder) }
        var rates: [String: [Double]] = [:]
        // Alternate, so that other load on the machine affects all variants.
        for _ in 0..<5 {
            try? FileManager.default.removeItem(at: ingestFolder)
            rates["store", default: []].append(try await throughTheStore(in: ingestFolder.appendingPathComponent("a")))
            rates["raw", default: []].append(
                try await raw(in: ingestFolder.appendingPathComponent("b"), isIndexed: true))
            rates["bare", default: []].append(
                try await raw(in: ingestFolder.appendingPathComponent("c"), isIndexed: false))
        }
        let median = rates.mapValues { $0.sorted()[$0.count / 2] }
        let (store, raw, bare) = (median["store"] ?? 0, median["raw"] ?? 1, median["bare"] ?? 1)
        return [
            BenchmarkRow(name: "store: ingest", value: store.rounded(), unit: "messages/s"),
            BenchmarkRow(name: "store: raw prepared inserts", value: raw.rounded(), unit: "messages/s"),
            BenchmarkRow(
                name: "store: ingest to raw inserts", value: store / raw, unit: "ratio", target: 0.5, isMinimum: true),
            BenchmarkRow(name: "store: raw inserts without search indexes", value: bare.rounded(), unit: "messages/s"),
            BenchmarkRow(name: "store: ingest to those", value: store / bare, unit: "ratio"),
        ]
    }

    private func batches() -> [(room: Int, messages: [NewMessage])] {
        var random = SeededGenerator(seed: 5)
        return (0..<Self.batches * Self.rooms).map { number in
            let room = number % Self.rooms
            let start = number / Self.rooms * Self.batch
            return (
                room,
                StoreDataset.messages(start..<start + Self.batch, in: StoreDataset.rooms[room], using: &random)
            )
        }
    }

    private func makeStore(in folder: URL) async throws -> ChatStore {
        let store = try await ChatStore.open(in: folder)
        for room in StoreDataset.rooms.prefix(Self.rooms) {
            try await store.createRoom(
                NewRoom(
                    room: Room(id: room, name: "Room", kind: .group), members: StoreDataset.members, createdAt: Date()))
        }
        return store
    }

    private func rate(since start: ContinuousClock.Instant) -> Double {
        Double(Self.batches * Self.rooms * Self.batch) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private func throughTheStore(in folder: URL) async throws -> Double {
        let store = try await makeStore(in: folder)
        let batches = batches()
        let start = ContinuousClock.now
        for batch in batches {
            let stored = try await store.ingest(batch.messages, into: StoreDataset.rooms[batch.room])
            guard stored.count == Self.batch else { throw StoreFailure(description: "not all was stored") }
        }
        let rate = rate(since: start)
        await store.close()
        return rate
    }

    private func raw(in folder: URL, isIndexed: Bool) async throws -> Double {
        await (try makeStore(in: folder)).close()
        let database = try RawDatabase(path: folder.appendingPathComponent("chat.sqlite").path)
        defer { database.close() }
        try database.execute("PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON")
        if !isIndexed { try database.execute("DROP TRIGGER message_inserted") }
        let batches = batches()
        var positions = Array(repeating: 0, count: Self.rooms)
        let start = ContinuousClock.now
        var arrival = 0
        for batch in batches {
            try database.execute("BEGIN")
            for message in batch.messages {
                positions[batch.room] += 1
                arrival += 1
                let room = batch.room + 1
                try database.insert(
                    key: (room << 40) + (1 << 39) + positions[batch.room], room: room, arrival: arrival, message)
            }
            try database.execute("COMMIT")
        }
        return rate(since: start)
    }
}

/// Direct access to SQLite, with a single prepared statement.
private final class RawDatabase {
    private var handle: OpaquePointer?
    private var statement: OpaquePointer?

    init(path: String) throws {
        try check(sqlite3_open(path, &handle))
        try check(
            sqlite3_prepare_v2(
                handle,
                """
                INSERT INTO message (key, room, arrival, id, sender, sentAt, text) VALUES (?, ?, ?, ?, 1, ?, ?)
                """, -1, &statement, nil))
    }

    func close() {
        sqlite3_finalize(statement)
        sqlite3_close(handle)
    }

    func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    func insert(key: Int, room: Int, arrival: Int, _ message: NewMessage) throws {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_int64(statement, 1, Int64(key))
        sqlite3_bind_int64(statement, 2, Int64(room))
        sqlite3_bind_int64(statement, 3, Int64(arrival))
        sqlite3_bind_text(statement, 4, message.id.rawValue, -1, transient)
        sqlite3_bind_int64(statement, 5, Int64(message.sentAt.timeIntervalSince1970 * 1000))
        sqlite3_bind_text(statement, 6, message.text, -1, transient)
        try check(sqlite3_step(statement), SQLITE_DONE)
        sqlite3_reset(statement)
    }

    private func check(_ code: Int32, _ expected: Int32 = SQLITE_OK) throws {
        guard code == expected else {
            throw StoreFailure(description: "SQLite: \(String(cString: sqlite3_errmsg(handle)))")
        }
    }
}
