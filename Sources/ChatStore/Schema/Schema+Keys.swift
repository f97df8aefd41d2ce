extension Schema {
    /// Keys of end-to-end encryption, and what belongs to them. The application ID is "PARK".
    ///
    /// They are not in the file of unsent data: tens of thousands of sessions are too much to be checked at each start.
    /// Keys are BLOBs, so that they are compared by their bytes. The records are a table with row IDs, so that
    /// ``Recovery`` finds them on loose pages, too.
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
