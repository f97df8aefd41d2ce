public import ChatCore
import Foundation
import GRDB

extension ChatStore: OutboxStorage {
    /// One that is unreadable does not keep the others from being sent: it stays where it is.
    public func outboxRequests() async throws -> [OutboxRequest] {
        try await readUnsent { db in
            try Row.fetchAll(db, sql: "SELECT * FROM outbox ORDER BY place").compactMap { row in
                try? OutboxRequest(row: row)
            }
        }
    }

    public func commit(_ change: OutboxChange) async throws {
        try await writeUnsent { db in
            let removal = try db.cachedStatement(sql: "DELETE FROM outbox WHERE room = ? AND id = ?")
            for key in change.removed { try removal.execute(arguments: [key.room.rawValue, key.id.rawValue]) }
            for request in change.put { try Self.put(request, in: db) }
            if let room = change.sentDraft { try DraftRow.find(room, in: db)?.remove(in: db) }
        }
    }

    private static func put(_ request: OutboxRequest, in db: Database) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let target: String? =
            if case .queued(let transaction) = request.action.target { transaction.rawValue } else { nil }
        try db.cachedStatement(
            sql: """
                INSERT INTO outbox (id, room, target, queuedAt, failure, action) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (room, id) DO UPDATE
                SET target = excluded.target, failure = excluded.failure, action = excluded.action
                """
        ).execute(arguments: [
            request.id.rawValue, request.room.rawValue, target, request.queuedAt.milliseconds, request.failure,
            try encoder.encode(request.action),
        ])
    }
}

extension OutboxRequest {
    fileprivate init(row: Row) throws {
        self.init(
            id: try row.identifier("id"), room: try row.identifier("room"),
            action: try JSONDecoder().decode(OutboxAction.self, from: try row.value("action")),
            queuedAt: try row.date("queuedAt"), failure: try row.optional("failure"))
    }
}
