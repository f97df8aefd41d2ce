public import ChatCore
import GRDB

/// Recognizes conversations that were imported before.
extension ChatStore {
    /// SQL that selects imported messages by the prefix of their identifiers.
    private static let importedIDs = "id >= 'import-' AND id < 'import.'"
    /// The number of messages at each end of an export that are compared to recognize a conversation.
    private static let sample = 8

    /// Returns the conversations that were imported before, recognized by the identifier in the exporting program or,
    /// without one, by the messages at the ends of both imports.
    /// - Parameter staged: The rooms being imported.
    public func earlierImports(of staged: [RoomID]) async throws -> [EarlierImport] {
        try await read { db in
            let rooms = try Row.fetchAll(
                db,
                sql: """
                    SELECT r.key, r.id, r.name, s.value AS source FROM room r
                    LEFT JOIN roomSetting s ON s.room = r.key AND s.name = ?
                    WHERE EXISTS (SELECT 1 FROM message WHERE room = r.key AND \(Self.importedIDs))
                        AND NOT EXISTS (SELECT 1 FROM roomSetting WHERE room = r.key AND name = ?)
                        AND NOT EXISTS (SELECT 1 FROM gap WHERE room = r.key)
                    ORDER BY r.key
                    """, arguments: [Self.importSource, Self.stagedSetting]
            ).map(ImportedRoom.init)
            guard !rooms.isEmpty else { return [] }
            let ends = try rooms.map { try Self.ends(of: $0.key, in: db) }
            return try staged.compactMap { id in
                try Self.earlierImport(of: RoomRecord.get(id, in: db), among: zip(rooms, ends).map { $0 }, in: db)
            }
        }
    }

    private struct ImportedRoom {
        let key: Int64
        let id: RoomID
        let name: String
        let source: String?

        init(row: Row) throws {
            key = try row.value("key")
            id = try row.identifier("id")
            name = try row.value("name")
            source = try row.optional("source")
        }
    }

    private struct ImportedMessageKey {
        let id: String
        let sentAt: Int64
    }

    private static func earlierImport(
        of record: RoomRecord, among rooms: [(room: ImportedRoom, ends: [[ImportedMessageKey]])], in db: Database
    ) throws -> EarlierImport? {
        let source = try String.fetchOne(
            db, sql: "SELECT value FROM roomSetting WHERE room = ? AND name = ?",
            arguments: [record.key, importSource])
        let roomEnds = try ends(of: record.key, in: db)
        var best: (room: ImportedRoom, common: Int)?
        for (room, ends) in rooms {
            let isSame =
                if let source, let other = room.source {
                    source == other
                } else {
                    try roomEnds.contains { try has($0, in: room.key, db) }
                        || ends.contains { try has($0, in: record.key, db) }
                }
            guard isSame else { continue }
            let common = try commonMessages(of: record, in: room.key, db)
            if best.map({ $0.common < common }) ?? true { best = (room, common) }
        }
        guard let best else { return nil }
        let count = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM message WHERE key BETWEEN ? AND ?",
            arguments: [record.keys.lowerBound, record.keys.upperBound])
        return EarlierImport(
            staged: record.room.id, room: best.room.id, name: best.room.name, newMessages: (count ?? 0) - best.common)
    }

    /// Returns the first and the last imported messages.
    private static func ends(of room: Int64, in db: Database) throws -> [[ImportedMessageKey]] {
        let keys = MessageKey.all(in: room)
        return try ["ASC", "DESC"].map { order in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id, sentAt FROM message WHERE key BETWEEN ? AND ? AND \(importedIDs)
                        ORDER BY key \(order) LIMIT ?
                        """), arguments: [keys.lowerBound, keys.upperBound, sample]
            ).map { ImportedMessageKey(id: try $0.value("id"), sentAt: try $0.value("sentAt")) }
        }
    }

    /// Whether at least half of the messages are in a room. Others may have been deleted before the export, and single
    /// ones may have been sent to several rooms.
    private static func has(_ messages: [ImportedMessageKey], in room: Int64, _ db: Database) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM message WHERE room = ? AND id = ? AND sentAt = ?")
        let found = try messages.count {
            try Bool.fetchOne(statement, arguments: [room, $0.id, $0.sentAt]) == true
        }
        return found > 0 && found * 2 >= messages.count
    }

    private static func commonMessages(of record: RoomRecord, in room: Int64, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM message s JOIN message r ON r.room = ? AND r.id = s.id
                WHERE s.key BETWEEN ? AND ?
                """, arguments: [room, record.keys.lowerBound, record.keys.upperBound]) ?? 0
    }
}
