extension Schema {
    /// The user's invitations. `data` is an ``Invitation`` as JSON.
    static let invitations = """
        CREATE TABLE invitation (
            room TEXT NOT NULL PRIMARY KEY,
            receivedAt INTEGER NOT NULL,
            data TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
