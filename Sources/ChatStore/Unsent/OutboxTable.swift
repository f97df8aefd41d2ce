public import ChatCore
import Foundation
import GRDB

/// The queued requests of all rooms, in order.
struct OutboxTable {
    let db: Database

    /// All requests. Unreadable ones are reported as ``OutboxAction/unreadable`` and retained.
    var requests: [OutboxRequest] {
        get throws {
            try Row.fetchAll(db, sql: "SELECT * FROM outbox ORDER BY place").map { row in try OutboxRequest(row: row) }
        }
    }

    /// Adds a request, or updates a known one. That it was attempted stays.
    func put(_ request: OutboxRequest) throws {
        // Do not overwrite: a later version may be able to read it.
        if request.action == .unreadable { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let target: String? =
            if case .queued(let transaction) = request.action.target { transaction.rawValue } else { nil }
        try db.cachedStatement(
            sql: """
                INSERT INTO outbox (id, room, target, queuedAt, failure, action, isUntried) VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (room, id) DO UPDATE
                SET target = excluded.target, failure = excluded.failure, action = excluded.action,
                    isUntried = isUntried AND excluded.isUntried
                """
        ).execute(arguments: [
            request.id.rawValue, request.room.rawValue, target, request.queuedAt.milliseconds, request.failure,
            try encoder.encode(request.action), request.wasAttempted ? nil : 1,
        ])
    }

    func remove(_ key: OutboxChange.Key) throws {
        try db.cachedStatement(sql: "DELETE FROM outbox WHERE room = ? AND id = ?")
            .execute(arguments: [key.room.rawValue, key.id.rawValue])
    }

    func removeAll(of room: RoomID) throws {
        try db.execute(sql: "DELETE FROM outbox WHERE room = ?", arguments: [room.rawValue])
    }
}

extension ChatStore: OutboxStorage {
    /// Returns all requests. Unreadable ones are reported as ``OutboxAction/unreadable`` and retained.
    public func outboxRequests() async throws -> [OutboxRequest] {
        try await readPending { db in try OutboxTable(db: db).requests }
    }

    public func commit(_ change: OutboxChange) async throws {
        try await writePending { db in
            let outbox = OutboxTable(db: db)
            for key in change.removed { try outbox.remove(key) }
            for request in change.put { try outbox.put(request) }
            guard let room = change.sentDraft else { return }
            let drafts = DraftTable(db: db)
            if let remainingDraft = change.remainingDraft {
                try drafts.set(remainingDraft, of: room)
            } else {
                try drafts.remove(of: room)
            }
        }
    }
}

extension OutboxRequest {
    fileprivate init(row: Row) throws {
        self.init(
            id: try row.identifier("id"), room: try row.identifier("room"),
            action: .unreadable, queuedAt: try row.date("queuedAt"), failure: try row.optional("failure"))
        wasAttempted = try row.optional("isUntried") as Int64? != 1
        let data: Data = try row.value("action")
        let decoder = JSONDecoder()
        // What neither format can read stays queued as unreadable, for the user to see and a later version to read.
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
