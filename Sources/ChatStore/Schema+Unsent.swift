extension Schema {
    /// What only this computer knows: accounts, drafts, and what waits to be sent. "PARU".
    ///
    /// A file of its own, so that the damage or the loss of a long history leaves it alone, so that it is small enough
    /// to be checked at each start after a crash, and so that each change can be synced at little cost.
    static let pending = Schema(applicationID: 0x5041_5255, steps: [first])

    /// `draft.token` is drawn anew with each change: a room whose `sentDraft` names it has sent that draft.
    /// Rooms go by their identifiers: this file outlives the other.
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
}
