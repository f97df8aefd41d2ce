extension Schema {
    /// Warnings about the encryption of messages. A message without one has no row.
    static let messageTrust = """
        CREATE TABLE messageTrust (
            message INTEGER NOT NULL PRIMARY KEY REFERENCES message (key) ON DELETE CASCADE,
            trust TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
