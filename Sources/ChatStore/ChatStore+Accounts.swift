public import ChatCore
import GRDB

/// Accounts are with what is unsent: a history that is lost must not sign anyone out.
extension ChatStore {
    /// In the order in which they came.
    public func accounts() async throws -> [Account] {
        try await readPending { db in
            try Row.fetchAll(db, sql: "SELECT * FROM account ORDER BY key").map { row in
                Account(
                    id: try row.value("id"), kind: try row.value("kind"), server: try row.value("server"),
                    device: try row.value("device"), name: try row.value("name"))
            }
        }
    }

    /// Keeps an account, or what has changed of it.
    public func saveAccount(_ account: Account) async throws {
        try await writePending { db in
            try db.execute(
                sql: """
                    INSERT INTO account (id, kind, server, device, name) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, server = excluded.server,
                        device = excluded.device, name = excluded.name
                    """, arguments: [account.id, account.kind, account.server, account.device, account.name])
        }
    }

    /// Keeps another name of an account; nothing happens if there is none of that identifier.
    public func renameAccount(_ id: String, to name: String) async throws {
        try await writePending { db in
            try db.execute(sql: "UPDATE account SET name = ? WHERE id = ?", arguments: [name, id])
        }
    }

    public func removeAccount(_ id: String) async throws {
        try await writePending { db in try db.execute(sql: "DELETE FROM account WHERE id = ?", arguments: [id]) }
    }
}
