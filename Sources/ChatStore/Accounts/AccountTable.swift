import ChatCore
import GRDB

/// The accounts, in the order they were added. They are stored with the unsent data, so that losing the history does
/// not sign out the user.
struct AccountTable {
    let db: Database

    var all: [Account] {
        get throws {
            try Row.fetchAll(db, sql: "SELECT * FROM account ORDER BY key").map { row in
                Account(
                    id: try row.value("id"), kind: try row.value("kind"), server: try row.value("server"),
                    device: try row.value("device"), name: try row.value("name"))
            }
        }
    }

    /// Adds or updates an account.
    func save(_ account: Account) throws {
        try db.execute(
            sql: """
                INSERT INTO account (id, kind, server, device, name) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, server = excluded.server,
                    device = excluded.device, name = excluded.name
                """, arguments: [account.id, account.kind, account.server, account.device, account.name])
    }

    /// Renames an account. Does nothing if there is none with that identifier.
    func rename(_ id: String, to name: String) throws {
        try db.execute(sql: "UPDATE account SET name = ? WHERE id = ?", arguments: [name, id])
    }

    func remove(_ id: String) throws {
        try db.execute(sql: "DELETE FROM account WHERE id = ?", arguments: [id])
    }
}
