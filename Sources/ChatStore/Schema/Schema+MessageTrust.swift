extension Schema {
    /// What is to be said of the encryption of messages; one that is as it should be has no row.
    static let messageTrust = """
        CREATE TABLE messageTrust (
            message INTEGER NOT NULL PRIMARY KEY REFERENCES message (key) ON DELETE CASCADE,
            trust TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
