extension Schema {
    /// The rooms and their history. The application ID is "PARL".
    static let history = Schema(
        applicationID: 0x5041_524C,
        steps: [
            conversations, content, sync, events, search, receipts, notificationLevels, placeholders, avatars, edits,
            invitations, ways, encryption, written, awaitedReceipts, unseen, contents, origins,
            unresolvedWordings, silentOrder, roomStates, markedUnread, sealed, messageTrust, editMentions,
            privilegedCreators, ignoredUsers, sealedEdits,
        ])

    /// `room` contains everything the room list needs, updated with each message, so that the list costs the same with
    /// any length of history. `message.text` is the last column: to read columns after a long text, SQLite has to
    /// follow its overflow pages. `message.sender` has no foreign key: deleting a member would scan all messages.
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

    /// The migration before which misplaced history is removed; see ``MisplacedChunks``.
    static let stepThatRefetchesHistory = history.steps.firstIndex(of: awaitedReceipts).map { $0 + 1 }

    /// The migration that moves drafts to the other file; see ``DraftMove``.
    static let stepThatDropsDrafts = 2

    /// `message.key` is ``MessageKey``, which clusters the messages of a room: reading a page touches the same number
    /// of database pages in a history of any length. `arrival` is the row ID in the search indexes: small numbers in
    /// order of arrival, descending for history that is fetched later.
    ///
    /// The search indexes are contentless (`content=''`) without token positions (`detail=none`), so results are
    /// verified against the text. Triggers keep them up to date. Tokens that begin with U+E000 stand for the message's
    /// room and sender.
    private static let content = """
        DROP TABLE draft;

        ALTER TABLE room ADD COLUMN sentDraft INTEGER;

        CREATE TABLE user (
            key INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE
        ) STRICT;

        INSERT INTO user (id) SELECT DISTINCT id FROM member ORDER BY key;

        ALTER TABLE message RENAME TO message1;
        DROP INDEX message_transaction;

        CREATE TABLE message (
            key INTEGER PRIMARY KEY,
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            arrival INTEGER NOT NULL UNIQUE,
            id TEXT NOT NULL,
            sender INTEGER NOT NULL,
            sentAt INTEGER NOT NULL,
            kind INTEGER NOT NULL DEFAULT 0,
            isDeleted INTEGER NOT NULL DEFAULT 0,
            delivery INTEGER NOT NULL DEFAULT 0,
            editedAt INTEGER,
            transactionID TEXT,
            replyTo TEXT,
            formatted TEXT,
            text TEXT NOT NULL,
            UNIQUE (room, id)
        ) STRICT;

        CREATE UNIQUE INDEX message_transaction ON message (room, transactionID) WHERE transactionID IS NOT NULL;

        CREATE VIRTUAL TABLE wordIndex USING fts5 (
            text, content='', detail=none, columnsize=0, prefix='2 3',
            tokenize="unicode61 remove_diacritics 2"
        );
        CREATE VIRTUAL TABLE partIndex USING fts5 (text, content='', detail=none, columnsize=0, tokenize='trigram');

        CREATE TRIGGER message_inserted AFTER INSERT ON message WHEN new.text <> '' BEGIN
            INSERT INTO wordIndex (rowid, text)
            VALUES (new.arrival, new.text || ' \u{E000}r' || new.room || ' \u{E000}u' || new.sender);
            INSERT INTO partIndex (rowid, text) VALUES (new.arrival, new.text);
        END;
        CREATE TRIGGER message_deleted AFTER DELETE ON message WHEN old.text <> '' BEGIN
            INSERT INTO wordIndex (wordIndex, rowid, text)
            VALUES ('delete', old.arrival, old.text || ' \u{E000}r' || old.room || ' \u{E000}u' || old.sender);
            INSERT INTO partIndex (partIndex, rowid, text) VALUES ('delete', old.arrival, old.text);
        END;
        CREATE TRIGGER message_changed AFTER UPDATE OF text ON message WHEN old.text <> new.text BEGIN
            INSERT INTO wordIndex (wordIndex, rowid, text)
            SELECT 'delete', old.arrival, old.text || ' \u{E000}r' || old.room || ' \u{E000}u' || old.sender
            WHERE old.text <> '';
            INSERT INTO partIndex (partIndex, rowid, text) SELECT 'delete', old.arrival, old.text WHERE old.text <> '';
            INSERT INTO wordIndex (rowid, text)
            SELECT new.arrival, new.text || ' \u{E000}r' || new.room || ' \u{E000}u' || new.sender
            WHERE new.text <> '';
            INSERT INTO partIndex (rowid, text) SELECT new.arrival, new.text WHERE new.text <> '';
        END;

        INSERT INTO message
        SELECT (m.room << 40) + (1 << 39) + m.position, m.room, m.key, m.id, u.key, m.sentAt, 0, m.isDeleted,
            m.delivery, m.editedAt, m.transactionID, m.replyTo, NULL, m.text
        FROM message1 m JOIN member s ON s.key = m.sender JOIN user u ON u.id = s.id ORDER BY m.key;

        UPDATE room SET lastMessage = (
            SELECT (m.room << 40) + (1 << 39) + m.position FROM message1 m WHERE m.key = room.lastMessage);

        DROP TABLE message1;

        CREATE TABLE revision (
            message INTEGER NOT NULL REFERENCES message (key) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            writtenAt INTEGER NOT NULL,
            formatted TEXT,
            text TEXT NOT NULL,
            PRIMARY KEY (message, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE reaction (
            message INTEGER NOT NULL REFERENCES message (key) ON DELETE CASCADE,
            text TEXT NOT NULL,
            sender INTEGER NOT NULL,
            givenAt INTEGER NOT NULL,
            id TEXT,
            PRIMARY KEY (message, text, sender)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE attachment (
            message INTEGER NOT NULL REFERENCES message (key) ON DELETE CASCADE,
            place INTEGER NOT NULL,
            uri TEXT NOT NULL,
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            bytes INTEGER,
            width INTEGER,
            height INTEGER,
            duration INTEGER,
            thumbnail TEXT,
            altText TEXT,
            PRIMARY KEY (message, place)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE receipt (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            member TEXT NOT NULL,
            message TEXT NOT NULL,
            readAt INTEGER NOT NULL,
            PRIMARY KEY (room, member)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE readingPlace (
            room INTEGER NOT NULL PRIMARY KEY REFERENCES room (key) ON DELETE CASCADE,
            message TEXT NOT NULL,
            offset REAL NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE media (
            uri TEXT NOT NULL PRIMARY KEY,
            digest TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            usedAt INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX media_use ON media (usedAt);
        CREATE INDEX media_digest ON media (digest);
        """
}
