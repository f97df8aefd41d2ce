import ChatCore
import Foundation
import GRDB

/// Removes history that earlier versions stored after newer messages (see ``RoomSync/fill(_:in:with:_:next:)``), and
/// inserts gaps both where it was and where it belongs, so that it is fetched again.
struct MisplacedChunks {
    /// The tolerance for clock skew between servers, in milliseconds.
    private static let skew: Int64 = 60_000

    let db: Database

    func removeAll() throws {
        let rooms = try Int64.fetchAll(
            db, sql: "SELECT DISTINCT room FROM roomSetting WHERE name >= 'matrix.' AND name < 'matrix/'")
        guard !rooms.isEmpty else { return }
        // The counts and the last message are read with a table that only a later migration creates.
        try db.execute(sql: "CREATE TEMP TABLE ignoredUser (user INTEGER PRIMARY KEY)")
        for room in rooms {
            for chunk in try chunks(in: room).reversed() { try remove(chunk, of: room) }
        }
        try db.execute(sql: "DROP TABLE temp.ignoredUser")
    }

    /// A misplaced chunk, described by the keys of its surroundings.
    private struct Chunk {
        /// The first and the last message of the contiguous part before the chunk.
        var front: (first: Int64, last: Int64)
        /// The first message after the chunk.
        var next: Int64
    }

    /// Finds misplaced chunks. Fetched history has descending arrivals: where the arrival drops between neighbors, a
    /// gap was filled. Messages after such a drop that are older than the part before it are misplaced.
    private func chunks(in room: Int64) throws -> [Chunk] {
        let gaps = try Set(
            Int64.fetchAll(db, sql: "SELECT position FROM gap WHERE room = ?", arguments: [room])
                .map { MessageKey(room: room, position: $0).raw })
        let keys = MessageKey.all(in: room)
        let rows = try Row.fetchCursor(
            db, sql: "SELECT key, arrival, sentAt FROM message WHERE key BETWEEN ? AND ? ORDER BY key",
            arguments: [keys.lowerBound, keys.upperBound])
        var found: [Chunk] = []
        var first: (key: Int64, sentAt: Int64)?
        var last: (key: Int64, arrival: Int64)?
        var wrong: (first: Int64, last: Int64)?
        while let row = try rows.next() {
            let key: Int64 = try row.value("key")
            let arrival: Int64 = try row.value("arrival")
            let sentAt: Int64 = try row.value("sentAt")
            // Arrivals of fetched history start at 0 and descend.
            if let chunk = wrong, arrival > 0 {
                found.append(Chunk(front: chunk, next: key))
                wrong = nil
                first = (key, sentAt)
            } else if gaps.contains(key), wrong == nil, arrival > 0 || first == nil {
                first = (key, sentAt)
            }
            if let start = first, let before = last, wrong == nil, arrival <= 0, arrival < before.arrival,
                sentAt < start.sentAt - Self.skew
            {
                wrong = (start.key, before.key)
            }
            if first == nil { first = (key, sentAt) }
            last = (key, arrival)
        }
        return found
    }

    private func remove(_ chunk: Chunk, of room: Int64) throws {
        let next = MessageKey(raw: chunk.next)
        let last = MessageKey(raw: chunk.front.last)
        try db.execute(
            sql: "DELETE FROM message WHERE key > ? AND key < ?", arguments: [chunk.front.last, chunk.next])
        try db.execute(
            sql: "DELETE FROM gap WHERE room = ? AND position > ? AND position <= ?",
            arguments: [room, last.position, next.position])
        for key in [chunk.next, chunk.front.first] {
            guard
                let event = try String.fetchOne(db, sql: "SELECT id FROM message WHERE key = ?", arguments: [key])
            else { continue }
            try db.execute(
                sql: "INSERT OR IGNORE INTO gap (room, position, token) VALUES (?, ?, ?)",
                arguments: [
                    room, MessageKey(raw: key).position, TimelineGap.token(before: MessageID(event)),
                ])
        }
        guard let record = try RoomRecord.find(room, in: db) else { return }
        try record.refreshLastMessage(in: db)
        try record.refreshUnread(after: record.fullyReadPosition ?? .min, in: db)
    }
}
