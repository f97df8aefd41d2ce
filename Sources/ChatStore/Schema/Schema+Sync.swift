extension Schema {
    /// The gaps of a server's history, and relations to unknown messages.
    ///
    /// A `gap` lies before the first message at or after `position`; `token` paginates backwards from there. An
    /// `orphan` changes a message that is not stored (yet). `reaction_id` finds the reaction that a redaction refers
    /// to.
    static let sync = """
        CREATE TABLE gap (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            token TEXT NOT NULL,
            PRIMARY KEY (room, position)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE orphan (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            target TEXT NOT NULL,
            id TEXT NOT NULL,
            kind TEXT NOT NULL,
            sender TEXT NOT NULL,
            givenAt INTEGER NOT NULL,
            formatted TEXT,
            text TEXT NOT NULL,
            PRIMARY KEY (room, target, id)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX reaction_id ON reaction (id) WHERE id IS NOT NULL;
        """

    /// State changes, of messages of the kind `event`, whose text is empty.
    static let events = """
        CREATE TABLE event (
            message INTEGER NOT NULL PRIMARY KEY REFERENCES message (key) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            subject TEXT,
            name TEXT,
            before TEXT,
            after TEXT
        ) STRICT, WITHOUT ROWID;
        """

    /// The timeline positions of receipts: loading a page costs the same in a room of any size. A receipt without a
    /// position is for an unknown message.
    static let receipts = """
        ALTER TABLE receipt ADD COLUMN position INTEGER;
        CREATE INDEX receipt_position ON receipt (room, position, readAt DESC) WHERE position IS NOT NULL;
        CREATE INDEX receipt_awaited ON receipt (room, message) WHERE position IS NULL;
        """

    /// The notification levels of messages that differ from the default, and the mention counts of rooms.
    static let notificationLevels = """
        CREATE TABLE attention (
            message INTEGER NOT NULL PRIMARY KEY REFERENCES message (key) ON DELETE CASCADE,
            level INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE mentionCount (
            room INTEGER NOT NULL PRIMARY KEY REFERENCES room (key) ON DELETE CASCADE,
            count INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// Placeholders of media that is not downloaded yet. Also drops the old index of downloads: ``MediaCache`` has its
    /// own.
    static let placeholders = """
        ALTER TABLE attachment ADD COLUMN blurHash TEXT;
        ALTER TABLE attachment ADD COLUMN loudness TEXT;

        DELETE FROM setting WHERE name >= 'matrix.fetched.' AND name < 'matrix.fetched/';
        """

    /// The avatars of members; the empty member stands for the room itself.
    static let avatars = """
        CREATE TABLE avatar (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            member TEXT NOT NULL,
            uri TEXT NOT NULL,
            PRIMARY KEY (room, member)
        ) STRICT, WITHOUT ROWID;
        """

    /// The edit that each version of a message comes from, so that deleting the edit can remove it: `revision.edit` of
    /// earlier versions, `lastEdit` of the current one. `withdrawal` holds redacted edits and reactions, which are
    /// ignored if the server sends them again.
    static let edits = """
        ALTER TABLE revision ADD COLUMN edit TEXT;
        CREATE INDEX revision_edit ON revision (edit) WHERE edit IS NOT NULL;

        CREATE TABLE lastEdit (
            message INTEGER NOT NULL PRIMARY KEY REFERENCES message (key) ON DELETE CASCADE,
            edit TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX lastEdit_edit ON lastEdit (edit);

        CREATE TABLE withdrawal (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            change TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (room, change)
        ) STRICT, WITHOUT ROWID;
        """

    /// The pagination token forwards from the start of a gap, if known: jumping to a date or message loads history that
    /// can be continued in both directions.
    static let ways = "ALTER TABLE gap ADD COLUMN forward TEXT;"

    /// Source texts, see `WrittenColumn`: of messages, of their earlier versions (`revision.written`), and of messages
    /// that the server has accepted but the sync has not delivered.
    static let written = """
        CREATE TABLE written (
            message INTEGER NOT NULL PRIMARY KEY REFERENCES message (key) ON DELETE CASCADE,
            data TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE revision ADD COLUMN written TEXT;

        CREATE TABLE authorNote (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            message TEXT NOT NULL,
            data TEXT NOT NULL,
            PRIMARY KEY (room, message)
        ) STRICT, WITHOUT ROWID;
        """

    /// Encryption can never be turned off again, because a message sent in the clear cannot be taken back.
    static let encryption = """
        CREATE TRIGGER roomSetting_encrypted BEFORE UPDATE ON roomSetting
        WHEN old.name = 'matrix.encrypted' AND old.value = '1' AND new.value <> '1'
        BEGIN
            SELECT RAISE(IGNORE);
        END;
        """

    /// The positions of silent events among the messages (``EventPositions``), and the receipts at events that are not
    /// stored yet, where the empty member stands for the user.
    static let awaitedReceipts = """
        CREATE TABLE silent (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            event TEXT NOT NULL,
            position INTEGER NOT NULL,
            PRIMARY KEY (room, event)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE awaitedMark (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            event TEXT NOT NULL,
            member TEXT NOT NULL,
            readAt INTEGER NOT NULL,
            PRIMARY KEY (room, event, member)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX awaitedMark_member ON awaitedMark (room, member, readAt);

        INSERT INTO awaitedMark SELECT room, message, member, readAt FROM receipt WHERE position IS NULL;
        DELETE FROM receipt WHERE position IS NULL;
        DROP INDEX receipt_awaited;
        """

    /// The kind and the attachments (as JSON) that an edit sets; NULL keeps them. Also, repeated reactions of one
    /// member: a redaction may refer to any of them.
    static let contents = """
        ALTER TABLE revision ADD COLUMN kind INTEGER;
        ALTER TABLE revision ADD COLUMN files TEXT;
        ALTER TABLE orphan ADD COLUMN messageKind INTEGER;
        ALTER TABLE orphan ADD COLUMN files TEXT;

        CREATE TABLE repeatedReaction (
            message INTEGER NOT NULL REFERENCES message (key) ON DELETE CASCADE,
            id TEXT NOT NULL,
            text TEXT NOT NULL,
            sender INTEGER NOT NULL,
            givenAt INTEGER NOT NULL,
            PRIMARY KEY (message, id)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX repeatedReaction_id ON repeatedReaction (id);
        """

    /// The event that set each stored part of a room's state: redacting it removes that part.
    static let origins = """
        CREATE TABLE stateOrigin (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            type TEXT NOT NULL,
            key TEXT NOT NULL,
            event TEXT NOT NULL,
            PRIMARY KEY (room, type, key)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX stateOrigin_event ON stateOrigin (room, event);
        """

    /// The source texts of edits of unknown messages, in the format of `revision.written`.
    static let unresolvedWordings = "ALTER TABLE orphan ADD COLUMN written TEXT;"

    /// Whether an edit of an unknown message mentions the user.
    static let editMentions = "ALTER TABLE orphan ADD COLUMN isMention INTEGER NOT NULL DEFAULT 0;"

    /// Orders silent events by position: every sync response looks up the end of the room.
    static let silentOrder = "CREATE INDEX silent_position ON silent (room, position);"

    /// The difference between the server's unread count and the count of stored messages, if the server sent one.
    static let unseen = """
        CREATE TABLE unseen (
            room INTEGER NOT NULL PRIMARY KEY REFERENCES room (key) ON DELETE CASCADE,
            unread INTEGER NOT NULL,
            mentions INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
