extension Schema {
    /// The rooms that the user has marked as unread (``MarkedUnreadTable``).
    static let markedUnread = """
        CREATE TABLE markedUnread (
            room INTEGER NOT NULL PRIMARY KEY REFERENCES room (key) ON DELETE CASCADE,
            value INTEGER NOT NULL,
            isUnsent INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
