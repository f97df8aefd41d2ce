extension Schema {
    /// The users whose messages are hidden (``IgnoredUserTable``), and the rooms whose history may lack messages of
    /// users who were ignored (``IncompleteHistory``): from a position on, or from the beginning of the room.
    static let ignoredUsers = """
        CREATE TABLE ignoredUser (
            user INTEGER NOT NULL PRIMARY KEY REFERENCES user (key) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE incompleteHistory (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            user INTEGER NOT NULL REFERENCES user (key) ON DELETE CASCADE,
            position INTEGER,
            PRIMARY KEY (room, user)
        ) STRICT, WITHOUT ROWID;
        """
}
