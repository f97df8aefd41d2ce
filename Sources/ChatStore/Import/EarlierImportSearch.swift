import ChatCore
import GRDB

/// Recognizes conversations that were imported before, among rooms without gaps.
struct EarlierImportSearch {
    /// SQL that selects imported messages by the prefix of their identifiers.
    private static let importedIDs = "id >= 'import-' AND id < 'import.'"
    /// The number of messages at each end of an export that are compared to recognize a conversation.
    private static let sample = 8

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

    private let db: Database
    private var rooms: [(room: ImportedRoom, ends: [[ImportedMessageKey]])] = []

    /// Reads the ends of all imported rooms.
    init(in db: Database) throws {
        self.db = db
        let rooms = try Row.fetchAll(
            db,
            sql: """
                SELECT r.key, r.id, r.name, s.value AS source FROM room r
                LEFT JOIN roomSetting s ON s.room = r.key AND s.name = ?
                WHERE EXISTS (SELECT 1 FROM message WHERE room = r.key AND \(Self.importedIDs))
                    AND NOT EXISTS (SELECT 1 FROM roomSetting WHERE room = r.key AND name = ?)
                    AND NOT EXISTS (SELECT 1 FROM gap WHERE room = r.key)
                ORDER BY r.key
                """, arguments: [ChatStore.importSource, StagedRooms.setting]
        ).map(ImportedRoom.init)
        self.rooms = try rooms.map { ($0, try ends(of: $0.key)) }
    }

    /// Returns the room with the same conversation as a staged one that has most of its messages, if any.
    func earlierImport(of record: RoomRecord) throws -> EarlierImport? {
        guard !rooms.isEmpty else { return nil }
        let source = try String.fetchOne(
            db, sql: "SELECT value FROM roomSetting WHERE room = ? AND name = ?",
            arguments: [record.key, ChatStore.importSource])
        let roomEnds = try ends(of: record.key)
        var best: (room: ImportedRoom, common: Int)?
        for (room, ends) in rooms {
            let isSame =
                if let source, let other = room.source {
                    source == other
                } else {
                    try roomEnds.contains { try has($0, in: room.key) }
                        || ends.contains { try has($0, in: record.key) }
                }
            guard isSame else { continue }
            let common = try commonMessages(of: record, in: room.key)
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
    private func ends(of room: Int64) throws -> [[ImportedMessageKey]] {
        let keys = MessageKey.all(in: room)
        return try ["ASC", "DESC"].map { order in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id, sentAt FROM message WHERE key BETWEEN ? AND ? AND \(Self.importedIDs)
                        ORDER BY key \(order) LIMIT ?
                        """), arguments: [keys.lowerBound, keys.upperBound, Self.sample]
            ).map { ImportedMessageKey(id: try $0.value("id"), sentAt: try $0.value("sentAt")) }
        }
    }

    /// Whether at least half of the messages are in a room. Others may have been deleted before the export, and single
    /// ones may have been sent to several rooms.
    private func has(_ messages: [ImportedMessageKey], in room: Int64) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM message WHERE room = ? AND id = ? AND sentAt = ?")
        let found = try messages.count {
            try Bool.fetchOne(statement, arguments: [room, $0.id, $0.sentAt]) == true
        }
        return found > 0 && found * 2 >= messages.count
    }

    private func commonMessages(of record: RoomRecord, in room: Int64) throws -> Int {
        try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM message s JOIN message r ON r.room = ? AND r.id = s.id
                WHERE s.key BETWEEN ? AND ?
                """, arguments: [room, record.keys.lowerBound, record.keys.upperBound]) ?? 0
    }
}
