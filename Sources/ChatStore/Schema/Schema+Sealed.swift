extension Schema {
    /// Encrypted events that cannot be read (``SealedTable``), and which messages were encrypted.
    ///
    /// `sealed.data` is the event as JSON. If it is NULL, the event has to be requested again. An event that changes a
    /// message has no row in `message`.
    ///
    /// Earlier versions stored such messages as a translated notice and discarded the event.
    static let sealed = """
        CREATE TABLE sealed (
            room INTEGER NOT NULL REFERENCES room (key) ON DELETE CASCADE,
            event TEXT NOT NULL,
            session TEXT,
            reason TEXT NOT NULL,
            data TEXT,
            PRIMARY KEY (room, event)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX sealed_session ON sealed (room, session) WHERE session IS NOT NULL;
        CREATE INDEX sealed_reason ON sealed (reason, room, session) WHERE session IS NOT NULL;
        CREATE INDEX sealed_unfetched ON sealed (room) WHERE data IS NULL;

        CREATE TABLE encryptedMessage (
            message INTEGER NOT NULL PRIMARY KEY REFERENCES message (key) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE orphan ADD COLUMN isEncrypted INTEGER NOT NULL DEFAULT 0;

        INSERT INTO sealed
        SELECT room, id, NULL, 'notFetched', NULL FROM message
        WHERE room IN (SELECT room FROM encryptedRoom) AND kind = 2 AND isDeleted = 0 AND formatted IS NULL
            AND text IN (
                'Encrypted message (not supported yet)', 'Encrypted message: Parlance can’t read it yet.',
                'Verschlüsselte Nachricht (noch nicht unterstützt)',
                'رسالة معمّاة (غير مدعومة بعد)');

        UPDATE message SET kind = 8, text = ''
        WHERE (room, id) IN (SELECT room, event FROM sealed);

        INSERT INTO encryptedMessage SELECT key FROM message WHERE (room, id) IN (SELECT room, event FROM sealed);

        UPDATE room SET lastText = ''
        WHERE lastMessage IN (SELECT message FROM encryptedMessage);
        """

    /// Which message an edit that cannot be read changes, so that the message can say so.
    static let sealedEdits = """
        ALTER TABLE sealed ADD COLUMN edits TEXT;

        \(readSealedEdits)

        CREATE INDEX sealed_edits ON sealed (room, edits) WHERE edits IS NOT NULL;
        """

    /// Reads from the stored events which message they edit.
    static let readSealedEdits = """
        UPDATE sealed SET edits = CASE WHEN json_valid(data) THEN
            iif(json_extract(data, '$.content."m.relates_to".rel_type') = 'm.replace'
                AND json_type(data, '$.content."m.relates_to".event_id') = 'text',
                json_extract(data, '$.content."m.relates_to".event_id'), NULL) END
        WHERE edits IS NULL AND NOT EXISTS (
            SELECT 1 FROM message m WHERE m.room = sealed.room AND m.id = sealed.event);
        """

    /// Has the events of sealed messages requested again whose rows were lost with a damaged page. No key would open
    /// the messages otherwise.
    static let requestLostSealed = """
        INSERT OR IGNORE INTO sealed (room, event, session, reason, data)
        SELECT room, id, NULL, 'notFetched', NULL FROM message WHERE kind = 8 AND isDeleted = 0;

        INSERT OR IGNORE INTO encryptedMessage SELECT key FROM message WHERE kind = 8;
        """
}
