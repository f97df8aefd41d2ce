extension Schema {
    /// What a server's history has that a local one has not.
    ///
    /// A `gap` lies before the message at `position` or the first one after it: what is there is at the server, to be
    /// asked for by `token`, backwards. An `orphan` changes a message that is not known (yet). `reaction_id` finds the
    /// reaction that is taken back.
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

    /// What happened in rooms, of the messages that stand for it, whose text is empty.
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

    /// Where the readers stand: what is drawn at a message costs the same in a room of any size. A receipt without a
    /// position is for a message that is not known yet.
    static let receipts = """
        ALTER TABLE receipt ADD COLUMN position INTEGER;
        CREATE INDEX receipt_position ON receipt (room, position, readAt DESC) WHERE position IS NOT NULL;
        CREATE INDEX receipt_awaited ON receipt (room, message) WHERE position IS NULL;
        """

    /// Of messages that are not simply unread how they are counted, and the counts of those that are meant for the user.
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

    /// What is seen in the place of a file before the file is there. What was fetched so far is found no more: the cache
    /// of fetched files notes itself what it has.
    static let placeholders = """
        ALTER TABLE attachment ADD COLUMN blurHash TEXT;
        ALTER TABLE attachment ADD COLUMN loudness TEXT;

        DELETE FROM setting WHERE name >= 'matrix.fetched.' AND name < 'matrix.fetched/';
        """

    /// Where the pictures of members are, and under no member that of the room itself.
    static let avatars = """
        CREATE TABLE avatar (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            member TEXT NOT NULL,
            uri TEXT NOT NULL,
            PRIMARY KEY (room, member)
        ) STRICT, WITHOUT ROWID;
        """

    /// By which edit each version of a message came, so that one that is deleted is gone from among them: `revision.edit`
    /// of the earlier ones, `lastEdit` of the text as it is. `withdrawal` names edits and reactions that were taken back:
    /// told again, they are neither.
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

    /// Where a server goes on forwards from what is in front of a gap, as far as that is known: history that was asked for
    /// by its day, or by a message, is read in both directions.
    static let ways = "ALTER TABLE gap ADD COLUMN forward TEXT;"

    /// Texts as the user wrote them, see `WrittenColumn`: of messages as they are, of what they said before
    /// (`revision.written`), and of messages that a server has and that are not known yet.
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

    /// A room that is encrypted stays so, whatever is written later: a message in the clear can't be taken back.
    static let encryption = """
        CREATE TRIGGER roomSetting_encrypted BEFORE UPDATE ON roomSetting
        WHEN old.name = 'matrix.encrypted' AND old.value = '1' AND new.value <> '1'
        BEGIN
            SELECT RAISE(IGNORE);
        END;
        """

    /// Where what is no message has its place among the messages (``EventPositions``), and the read marks of others and, under
    /// no member, of the user's at what is not known yet.
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

    /// What an edit changes besides the text: the kind of the message and its files, as JSON; NULL leaves them as they are.
    /// And reactions that somebody gave once more: what is taken back is one of them.
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

    /// Which event set what of a room's state is kept: a deletion takes that away again.
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

    /// How edits were written of messages that are not known yet, as `revision.written` says it.
    static let unresolvedWordings = "ALTER TABLE orphan ADD COLUMN written TEXT;"

    /// What is no message in the order of its places: where a room ends is asked at each answer of a server.
    static let silentOrder = "CREATE INDEX silent_position ON silent (room, position);"

    /// By how much a server's count of what is unread differs from that of what is kept, where it says so.
    static let unseen = """
        CREATE TABLE unseen (
            room INTEGER NOT NULL PRIMARY KEY REFERENCES room (key) ON DELETE CASCADE,
            unread INTEGER NOT NULL,
            mentions INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
