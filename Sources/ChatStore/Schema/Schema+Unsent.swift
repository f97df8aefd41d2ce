extension Schema {
    /// Data that exists only on this computer: accounts, drafts and the outbox. The application ID is "PARU".
    ///
    /// It is in a separate file so that damage to a long history does not affect it, so that it is small enough to be
    /// checked at each start, and so that each change can be synced cheaply.
    static let pending = Schema(applicationID: 0x5041_5255, steps: [first, attempts])

    /// `draft.token` changes with each modification: a room whose `sentDraft` equals it has sent that draft. Rooms are
    /// referred to by identifier, since this file outlives the history.
    private static let first = """
        CREATE TABLE account (
            key INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            server TEXT NOT NULL,
            device TEXT NOT NULL,
            name TEXT NOT NULL
        ) STRICT;

        CREATE TABLE draft (
            key INTEGER PRIMARY KEY,
            room TEXT NOT NULL UNIQUE,
            token INTEGER NOT NULL,
            preview TEXT NOT NULL,
            data BLOB NOT NULL
        ) STRICT;

        CREATE TABLE outbox (
            place INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL,
            room TEXT NOT NULL,
            target TEXT,
            queuedAt INTEGER NOT NULL,
            failure TEXT,
            action BLOB NOT NULL,
            UNIQUE (room, id)
        ) STRICT;
        """

    /// `isUntried` is 1 until an attempt to send the request begins. Rows of earlier versions may have been tried.
    private static let attempts = "ALTER TABLE outbox ADD COLUMN isUntried INTEGER;"
}
