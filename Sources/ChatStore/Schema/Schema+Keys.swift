extension Schema {
    /// The records of end-to-end encryption. The application ID is "PARK".
    ///
    /// They are not in the file of unsent data, which is checked at each start: that would take too long with tens of
    /// thousands of sessions. Keys are BLOBs, so that SQLite compares bytes. The table has row IDs, so that
    /// ``Recovery`` also finds records on loose pages.
    static let keys = Schema(applicationID: 0x5041_524B, steps: [firstOfKeys])

    private static let firstOfKeys = """
        CREATE TABLE record (
            key INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL,
            owner BLOB NOT NULL,
            id BLOB NOT NULL,
            value BLOB NOT NULL,
            UNIQUE (kind, owner, id)
        ) STRICT;

        CREATE TABLE readMessage (
            session BLOB NOT NULL,
            number INTEGER NOT NULL,
            event BLOB NOT NULL,
            PRIMARY KEY (session, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE setting (
            name TEXT PRIMARY KEY NOT NULL,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
