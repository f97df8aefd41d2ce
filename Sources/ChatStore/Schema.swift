import GRDB

/// The tables, as a list of steps that is only ever added to: a released step never changes.
///
/// One database holds one account. Times are milliseconds since 1970. `PRAGMA user_version` counts the steps done.
enum Schema {
    /// "PARL": tells a database of ours from any other.
    static let applicationID: Int64 = 0x5041_524C

    static var version: Int { steps.count }

    static let steps: [String] = [conversations]

    /// Brings a database to the newest version, each step in a transaction of its own.
    static func migrate(_ writer: some DatabaseWriter) throws {
        let done = try writer.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 }
        for (index, step) in steps.enumerated().dropFirst(done) {
            try writer.write { db in
                try db.execute(sql: step)
                try db.execute(sql: "PRAGMA application_id = \(applicationID)")
                try db.execute(sql: "PRAGMA user_version = \(index + 1)")
            }
        }
    }

    /// `room` carries what a room list needs, kept in step with each message, so that a list costs the same
    /// with any length of history. `message.text` comes last: SQLite reads the columns behind a long text by
    /// walking its overflow pages. `message.sender` has no foreign key: removing a member would scan all messages.
    private static let conversations = """
        CREATE TABLE room (
            key INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            lastActivity INTEGER NOT NULL,
            readUpTo INTEGER,
            unread INTEGER NOT NULL DEFAULT 0,
            lastMessage INTEGER,
            lastText TEXT
        ) STRICT;

        CREATE TABLE member (
            key INTEGER PRIMARY KEY,
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            id TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            hasLeft INTEGER NOT NULL DEFAULT 0,
            UNIQUE (room, id)
        ) STRICT;

        CREATE TABLE message (
            key INTEGER PRIMARY KEY,
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            id TEXT NOT NULL,
            sender INTEGER NOT NULL,
            sentAt INTEGER NOT NULL,
            isDeleted INTEGER NOT NULL DEFAULT 0,
            delivery INTEGER NOT NULL DEFAULT 0,
            editedAt INTEGER,
            transactionID TEXT,
            replyTo TEXT,
            text TEXT NOT NULL,
            UNIQUE (room, position),
            UNIQUE (room, id)
        ) STRICT;

        CREATE UNIQUE INDEX message_transaction ON message (room, transactionID) WHERE transactionID IS NOT NULL;

        CREATE TABLE draft (
            room INTEGER PRIMARY KEY REFERENCES room (key) ON DELETE CASCADE,
            preview TEXT NOT NULL,
            data BLOB NOT NULL
        ) STRICT;

        CREATE TABLE setting (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE roomSetting (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (room, name)
        ) STRICT, WITHOUT ROWID;
        """
}
