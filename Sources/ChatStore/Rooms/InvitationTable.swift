public import ChatCore
import Foundation
import GRDB

/// The stored invitations.
struct InvitationTable {
    /// The rooms whose invitations an incomplete list has not included yet, one a line.
    private static let uncertainSetting = "uncertainInvitations"

    let db: Database

    func apply(_ batch: SyncBatch) throws {
        try prune(batch)
        let invited = Set(batch.invitations.map(\.room))
        for room in batch.rooms where !invited.contains(room.id) { try remove(room.id.rawValue) }
        for invitation in batch.invitations { try put(invitation) }
    }

    /// Removes the invitations that a complete list does not include. Those of an incomplete one stay until it ends, in
    /// whichever run of the application: one that was removed too early would return as a new one.
    private func prune(_ batch: SyncBatch) throws {
        let settings = SettingTable(db: db)
        let stored = try settings.value(of: Self.uncertainSetting) ?? ""
        let begins = batch.areInvitationsWhole || batch.beginsInvitations
        var uncertain =
            begins
            ? Set(try String.fetchAll(db, sql: "SELECT room FROM invitation"))
            : Set(stored.split(separator: "\n").map(String.init))
        uncertain.subtract(batch.invitations.map(\.room.rawValue))
        if batch.areInvitationsWhole || batch.endsInvitations {
            for room in uncertain { try remove(room) }
            uncertain = []
        }
        let remaining = uncertain.sorted().joined(separator: "\n")
        if remaining != stored { try settings.set(remaining, for: Self.uncertainSetting) }
    }

    /// Without those by users who have been ignored since: the server leaves out only new ones.
    var all: [Invitation] {
        get throws {
            let ignored = try IgnoredUserTable(db: db).users
            let decoder = JSONDecoder()
            let rows = try Row.fetchAll(
                db, sql: "SELECT receivedAt, data FROM invitation ORDER BY receivedAt DESC, room")
            return try rows.compactMap { row in
                let text: String = try row.value("data")
                // Skip invitations in the format of a later version: the server sends them again.
                var invitation = try? decoder.decode(Invitation.self, from: Data(text.utf8))
                invitation?.receivedAt = try row.date("receivedAt")
                if let inviter = invitation?.inviter, ignored.contains(inviter) { return nil }
                return invitation
            }
        }
    }

    private func remove(_ room: String) throws {
        try db.cachedStatement(sql: "DELETE FROM invitation WHERE room = ?").execute(arguments: [room])
    }

    private func put(_ invitation: Invitation) throws {
        let data = String(decoding: try JSONEncoder().encode(invitation), as: UTF8.self)
        try db.cachedStatement(
            sql: """
                INSERT INTO invitation VALUES (?, ?, ?) ON CONFLICT (room) DO UPDATE SET data = excluded.data
                """
        ).execute(arguments: [invitation.room.rawValue, invitation.receivedAt.milliseconds, data])
    }
}

extension ChatStore {
    /// Returns the invitations, newest first, without those by ignored users.
    public func invitations() async throws -> [Invitation] {
        try await read { db in try InvitationTable(db: db).all }
    }
}
