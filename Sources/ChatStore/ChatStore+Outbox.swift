public import ChatCore
import Foundation
import GRDB

extension ChatStore: OutboxStorage {
    /// Returns all requests. Unreadable ones are reported as ``OutboxAction/unreadable`` and retained.
    public func outboxRequests() async throws -> [OutboxRequest] {
        try await readPending { db in try Self.requests(in: db) }
    }

    static func requests(in db: Database) throws -> [OutboxRequest] {
        try Row.fetchAll(db, sql: "SELECT * FROM outbox ORDER BY place").map { row in try OutboxRequest(row: row) }
    }

    public func commit(_ change: OutboxChange) async throws {
        try await writePending { db in
            let removal = try db.cachedStatement(sql: "DELETE FROM outbox WHERE room = ? AND id = ?")
            for key in change.removed { try removal.execute(arguments: [key.room.rawValue, key.id.rawValue]) }
            for request in change.put { try Self.put(request, in: db) }
            guard let room = change.sentDraft else { return }
            if let remainingDraft = change.remainingDraft {
                try DraftRow.set(remainingDraft, of: room, in: db)
            } else {
                try DraftRow.find(room, in: db)?.remove(in: db)
            }
        }
    }

    private static func put(_ request: OutboxRequest, in db: Database) throws {
        // Do not overwrite: a later version may be able to read it.
        if request.action == .unreadable { return }
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
            action: .unreadable, queuedAt: try row.date("queuedAt"), failure: try row.optional("failure"))
        let data: Data = try row.value("action")
        let decoder = JSONDecoder()
        if let read = try? decoder.decode(OutboxAction.self, from: data) {
            action = read
        } else if let earlier = (try? decoder.decode(EarlierOutboxAction.self, from: data))?.action {
            action = earlier
            namesAreMentions = true
        } else {
            failure = OutboxAction.unreadableReason
        }
    }
}
