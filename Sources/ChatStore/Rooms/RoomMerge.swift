import ChatCore
import GRDB

/// Merges the new messages of a staged room into an existing room. Each goes after its predecessor in the staged room,
/// and by timestamp among messages that only the existing room has. Existing messages stay unchanged.
struct RoomMerge {
    let from: RoomRecord
    let into: RoomRecord
    let db: Database

    init(from: RoomRecord, into: RoomRecord, db: Database) {
        (self.from, self.into, self.db) = (from, into, db)
    }

    /// Runs the merge. The added messages lose their related rows in the staged room, which has to be discarded.
    /// - Returns: The number of added messages.
    /// - Throws: ``ChatError/notPermitted`` if the existing room has gaps: positions would be ambiguous.
    func run() throws -> Int {
        guard try TimelineGap.last(in: into, db) == nil else { throw ChatError.notPermitted }
        let layout = Layout(of: try messages(of: into), with: try messages(of: from))
        guard !layout.added.isEmpty else { return 0 }
        let move = try MessageMove(db: db)
        let isRead = try into.unread(in: db).messages == 0
        let read = try into.fullyReadPosition.flatMap {
            try EventPositions(record: into, db: db).lastMessage(before: $0 + 1)?.id
        }
        try addMembers()
        // In descending order, so that no key is still in use.
        for (key, position) in layout.moved.reversed() { try move.move(key, to: self.key(position)) }
        for (key, position) in layout.added { try add(key, at: self.key(position), move) }
        if !layout.moved.isEmpty { try updateReceipts() }
        try into.refreshLastMessage(in: db)
        try updateRoom(readUpTo: isRead ? nil : read)
        return layout.added.count
    }

    private func key(_ position: Int64) -> Int64 { MessageKey(room: into.key, position: position).raw }

    private func messages(of record: RoomRecord) throws -> [Layout.Entry] {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT key, id, sentAt FROM message WHERE key BETWEEN ? AND ? ORDER BY key",
            arguments: [record.keys.lowerBound, record.keys.upperBound])
        return try Array(
            rows.map { row in
                Layout.Entry(
                    key: try row.value("key"), id: try row.value("id"), sentAt: try row.value("sentAt"))
            })
    }

    private func addMembers() throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO member (room, id, kind, name, hasLeft)
                SELECT ?, id, kind, name, hasLeft FROM member WHERE room = ?
                """, arguments: [into.key, from.key])
    }

    /// The search indexes contain the arrival and the room, so the message is inserted again.
    private func add(_ old: Int64, at new: Int64, _ move: MessageMove) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO message (key, room, arrival, id, sender, sentAt, kind, isDeleted, delivery, editedAt, replyTo,
                    formatted, text)
                SELECT ?, ?, (SELECT max(arrival) + 1 FROM message), id, sender, sentAt, kind, isDeleted, delivery,
                    editedAt, replyTo, formatted, text
                FROM message WHERE key = ?
                """
        ).execute(arguments: [new, into.key, old])
        try move.moveReferences(of: old, to: new)
    }

    private func updateReceipts() throws {
        let receipts = try Row.fetchAll(
            db, sql: "SELECT member, message FROM receipt WHERE room = ? AND position IS NOT NULL",
            arguments: [into.key])
        let positions = EventPositions(record: into, db: db)
        for row in receipts {
            guard let position = try positions.message(row.identifier("message")) else { continue }
            try db.execute(
                sql: "UPDATE receipt SET position = ? WHERE room = ? AND member = ?",
                arguments: [position, into.key, try row.value("member") as String])
        }
    }

    /// Marks the room as read up to a message, or completely with `nil`. Imported messages do not count as new.
    private func updateRoom(readUpTo message: MessageID?) throws {
        let end = try into.ends(in: db)?.last.position
        let read = try message.flatMap { try EventPositions(record: into, db: db).message($0) } ?? end
        try db.execute(
            sql: """
                UPDATE room SET readUpTo = ?, lastActivity = max(
                    lastActivity, coalesce((SELECT sentAt FROM message WHERE key = lastMessage), lastActivity))
                WHERE key = ?
                """, arguments: [read, into.key])
        if let read { try into.refreshUnread(after: read, in: db) }
    }
}

extension RoomMerge {
    /// Assigns positions to the messages of both rooms.
    struct Layout {
        struct Entry {
            var key: Int64
            var id: String
            var sentAt: Int64
        }

        /// Messages of the existing room that have to move, with their new positions.
        private(set) var moved: [(key: Int64, position: Int64)] = []
        /// Messages of the staged room, with their new positions.
        private(set) var added: [(key: Int64, position: Int64)] = []

        /// All messages in their final order.
        private var order: [(entry: Entry, isNew: Bool)] = []

        init(of old: [Entry], with other: [Entry]) {
            let indexByID = Dictionary(zip(old.map(\.id), old.indices), uniquingKeysWith: { first, _ in first })
            var next = 0
            var new: [Entry] = []
            for entry in other {
                guard let index = indexByID[entry.id] else {
                    new.append(entry)
                    continue
                }
                // The order differs from the existing room's, which prevails.
                guard index >= next else { continue }
                append(old[next..<index], new)
                order.append((old[index], false))
                (next, new) = (index + 1, [])
            }
            append(old[next...], new)
            assignPositions()
        }

        private mutating func append(_ old: ArraySlice<Entry>, _ new: [Entry]) {
            var new = new[...]
            for entry in old {
                while let first = new.first, first.sentAt < entry.sentAt {
                    order.append((first, true))
                    new.removeFirst()
                }
                order.append((entry, false))
            }
            order += new.map { ($0, true) }
        }

        /// There are free positions before and after the existing messages.
        private mutating func assignPositions() {
            let before = order.prefix { $0.isNew }.count
            let first = order.first { !$0.isNew }.map { MessageKey(raw: $0.entry.key).position } ?? Int64(before) + 1
            var next = first - Int64(before)
            for (entry, isNew) in order {
                if isNew {
                    added.append((entry.key, next))
                } else {
                    let position = MessageKey(raw: entry.key).position
                    if position < next { moved.append((entry.key, next)) }
                    next = max(next, position)
                }
                next += 1
            }
            order = []
        }
    }
}
