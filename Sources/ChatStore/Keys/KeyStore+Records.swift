public import ChatCore
import Foundation
import GRDB

extension KeyStore: CryptoStorage {
    public func cryptoRecords(_ kind: CryptoRecord.Kind, owner: ExactText?) async throws -> [CryptoRecord] {
        try await readOutsideTransaction { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(sql: Self.query(ofOwner: owner != nil)),
                arguments: ["kind": kind.rawValue] + (owner.map { ["owner": Data($0.bytes)] } ?? [:]))
            return try rows.map { try CryptoRecord(kind, $0) }
        }
    }

    public func cryptoRecords(_ kinds: [CryptoRecord.Kind], owner: ExactText) async throws -> [CryptoRecord] {
        try await read { db in
            let statement = try db.cachedStatement(sql: Self.query(ofOwner: true))
            return try kinds.flatMap { kind in
                try Row.fetchAll(statement, arguments: ["kind": kind.rawValue, "owner": Data(owner.bytes)])
                    .map { try CryptoRecord(kind, $0) }
            }
        }
    }

    /// Two statements: a condition that also holds without an owner would scan the whole kind for each owner.
    static func query(ofOwner isOwned: Bool) -> String {
        "SELECT owner, id, value FROM record WHERE kind = :kind \(isOwned ? "AND owner = :owner" : "") ORDER BY owner, id"
    }

    public func cryptoRecords(
        _ kind: CryptoRecord.Kind, owners: Set<ExactText>, limit: Int?
    ) async throws -> [ExactText: [CryptoRecord]] {
        guard !owners.isEmpty else { return [:] }
        return try await read { db in
            // A negative limit is none.
            let statement = try db.cachedStatement(sql: "\(Self.query(ofOwner: true)) LIMIT \(limit ?? -1)")
            var records: [ExactText: [CryptoRecord]] = [:]
            for owner in owners {
                let rows = try Row.fetchAll(
                    statement, arguments: ["kind": kind.rawValue, "owner": Data(owner.bytes)])
                if !rows.isEmpty { records[owner] = try rows.map { try CryptoRecord(kind, $0) } }
            }
            return records
        }
    }

    public func cryptoRecords(
        _ kind: CryptoRecord.Kind, after key: CryptoRecord.Key?, limit: Int
    ) async throws -> [CryptoRecord] {
        // A condition that also holds without a key would scan the whole kind for each page.
        let isBehind = key == nil ? "" : "AND (owner, id) > (:owner, :id)"
        return try await readOutsideTransaction { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT owner, id, value FROM record WHERE kind = :kind \(isBehind)
                        ORDER BY owner, id LIMIT :limit
                        """),
                arguments: ["kind": kind.rawValue, "limit": limit]
                    + (key.map { ["owner": Data($0.owner.bytes), "id": Data($0.id.bytes)] } ?? [:]))
            return try rows.map { try CryptoRecord(kind, $0) }
        }
    }

    public func cryptoRecordCount(_ kind: CryptoRecord.Kind) async throws -> Int {
        try await readOutsideTransaction { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM record WHERE kind = ?", arguments: [kind.rawValue]) ?? 0
        }
    }

    public func cryptoRecord(_ key: CryptoRecord.Key) async throws -> CryptoRecord? {
        try await readOutsideTransaction { db in
            try Data.fetchOne(
                db.cachedStatement(sql: "SELECT value FROM record WHERE kind = ? AND owner = ? AND id = ?"),
                arguments: key.arguments
            ).map { CryptoRecord(key, value: $0) }
        }
    }

    public func events(readFrom asked: Set<GroupMessage>) async throws -> [GroupMessage: ExactText] {
        guard !asked.isEmpty else { return [:] }
        // A row is written once and stays as it is.
        return try await readOutsideTransaction { db in
            var events: [GroupMessage: ExactText] = [:]
            // A query for each range, not for each message: the messages of a read are mostly consecutive ones of a few
            // sessions.
            let statement = try db.cachedStatement(
                sql: "SELECT number, event FROM readMessage WHERE session = ? AND number BETWEEN ? AND ?")
            for (session, messages) in Dictionary(grouping: asked, by: \.session) {
                let blob = Data(session.bytes)
                for range in Self.ranges(of: messages.map(\.index)) {
                    let rows = try Row.fetchAll(
                        statement, arguments: [blob, Int64(range.lowerBound), Int64(range.upperBound)])
                    for row in rows {
                        let message = GroupMessage(session: session, index: try row.decode(UInt32.self, atIndex: 0))
                        guard asked.contains(message) else { continue }
                        events[message] = ExactText(bytes: try row.decode(Data.self, atIndex: 1))
                    }
                }
            }
            return events
        }
    }

    /// Few ranges that contain all the numbers, and at most four others between two of them.
    static func ranges(of numbers: [UInt32]) -> [ClosedRange<UInt32>] {
        var ranges: [ClosedRange<UInt32>] = []
        for number in numbers.sorted() {
            if let last = ranges.last, number - last.upperBound <= 5 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges
    }

    private static func event(readFrom message: GroupMessage, in db: Database) throws -> ExactText? {
        try Data.fetchOne(
            db.cachedStatement(sql: "SELECT event FROM readMessage WHERE session = ? AND number = ?"),
            arguments: [Data(message.session.bytes), Int64(message.index)]
        ).map { ExactText(bytes: $0) }
    }

    public func commit(_ change: CryptoChange) async throws {
        guard !change.isEmpty else { return }
        // Indices are reserved with the first, and messages to devices wait in the second until the server has them.
        let isUse = change.put.contains { [.outboundGroupSession, .outgoingRequest].contains($0.key.kind) }
        let store: @Sendable (Database) throws -> Void = { db in
            let removed = try db.cachedStatement(sql: "DELETE FROM record WHERE kind = ? AND owner = ? AND id = ?")
            for key in change.removed { try removed.execute(arguments: key.arguments) }
            let put = try db.cachedStatement(
                sql: """
                    INSERT INTO record (kind, owner, id, value) VALUES (?, ?, ?, ?)
                    ON CONFLICT (kind, owner, id) DO UPDATE SET value = excluded.value
                    """)
            for record in change.put { try put.execute(arguments: record.key.arguments + [record.value]) }
            let read = try db.cachedStatement(
                sql: "INSERT INTO readMessage (session, number, event) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
            for (message, event) in change.read {
                try read.execute(
                    arguments: [Data(message.session.bytes), Int64(message.index), Data(event.bytes)])
                guard db.changesCount == 0 else { continue }
                guard try Self.event(readFrom: message, in: db) == event else {
                    throw ChatError.storage(reason: "a message was read from another event")
                }
            }
        }
        if isUse { try await writeUse(store) } else { try await write(store) }
    }
}

extension CryptoRecord {
    /// - Parameter row: Owner, identifier and value.
    fileprivate init(_ kind: Kind, _ row: Row) throws {
        // GRDB's subscript would trap on a damaged row.
        func blob(_ index: Int) throws -> Data { try row.decode(Data.self, atIndex: index) }
        let (owner, id, value) = (try blob(0), try blob(1), try blob(2))
        self.init(Key(kind, owner: ExactText(bytes: owner), id: ExactText(bytes: id)), value: value)
    }
}

extension CryptoRecord.Key {
    fileprivate var arguments: StatementArguments {
        [kind.rawValue, Data(owner.bytes), Data(id.bytes)]
    }
}
