extension Schema {
    /// What is known of rooms on a server (``RoomState``), which earlier versions stored as settings by name.
    ///
    /// Encryption is recorded in a row of its own, which is removed only along with the room: whatever updates,
    /// replaces or deletes the state, the room never accepts messages in the clear again.
    static let roomStates = """
        CREATE TABLE roomState (
            room INTEGER NOT NULL PRIMARY KEY REFERENCES room (key) ON DELETE CASCADE,
            isUnencrypted INTEGER NOT NULL DEFAULT 0,
            name TEXT,
            alias TEXT,
            topic TEXT,
            avatar TEXT,
            heroes TEXT,
            joinedCount INTEGER,
            powerLevels TEXT,
            creator TEXT,
            createdAt INTEGER,
            successor TEXT,
            successionReason TEXT,
            predecessor TEXT
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE encryptedRoom (
            room INTEGER NOT NULL PRIMARY KEY REFERENCES room (key) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER encryptedRoom_updated BEFORE UPDATE ON encryptedRoom BEGIN
            SELECT RAISE(IGNORE);
        END;
        CREATE TRIGGER encryptedRoom_deleted BEFORE DELETE ON encryptedRoom
        WHEN EXISTS (SELECT 1 FROM room WHERE key = old.room)
        BEGIN
            SELECT RAISE(IGNORE);
        END;

        CREATE TABLE space (
            id TEXT NOT NULL PRIMARY KEY
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE unsentReadMarker (
            room INTEGER NOT NULL PRIMARY KEY REFERENCES room (key) ON DELETE CASCADE,
            message TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        INSERT INTO encryptedRoom
        SELECT room FROM roomSetting WHERE name = 'matrix.encrypted' AND value <> '0';

        INSERT INTO roomState
        SELECT room,
            coalesce(max(value = '0') FILTER (WHERE name = 'matrix.encrypted'), 0),
            nullif(max(value) FILTER (WHERE name = 'matrix.name'), ''),
            nullif(max(value) FILTER (WHERE name = 'matrix.alias'), ''),
            max(value) FILTER (WHERE name = 'topic'),
            max(value) FILTER (WHERE name = 'matrix.avatar'),
            coalesce(
                max(value) FILTER (WHERE name = 'matrix.heroes'), max(value) FILTER (WHERE name = 'matrix.hero')),
            CAST(max(value) FILTER (WHERE name = 'matrix.joinedCount') AS INTEGER),
            max(value) FILTER (WHERE name = 'matrix.powerLevels'),
            max(substr(value, instr(value, ' ') + 1)) FILTER (WHERE name = 'matrix.creation'),
            CAST(max(value) FILTER (WHERE name = 'matrix.creation') AS INTEGER),
            max(value) FILTER (WHERE name = 'matrix.replacement'),
            max(value) FILTER (WHERE name = 'matrix.replacementReason'),
            max(value) FILTER (WHERE name = 'matrix.predecessor')
        FROM roomSetting s
        WHERE EXISTS (
            SELECT 1 FROM roomSetting WHERE room = s.room AND name >= 'matrix.' AND name < 'matrix/')
        GROUP BY room;

        INSERT INTO unsentReadMarker SELECT room, value FROM roomSetting WHERE name = 'matrix.unsentMark';

        INSERT INTO space
        SELECT substr(name, length('matrix.space.') + 1) FROM setting
        WHERE name >= 'matrix.space.' AND name < 'matrix.space/';

        DROP TRIGGER roomSetting_encrypted;
        DELETE FROM roomSetting WHERE name = 'topic' AND room IN (SELECT room FROM roomState);
        DELETE FROM roomSetting WHERE name >= 'matrix.' AND name < 'matrix/';
        DELETE FROM setting WHERE name >= 'matrix.space.' AND name < 'matrix.space/';
        """

    /// The creators who have infinite power, separated by spaces.
    ///
    /// Earlier versions stored neither them nor the room's version, and a sync sends a room's first event only once. A
    /// room ID without a domain says that the version is 12 or later, in which the creator is one of them. The others
    /// are stored when a list of the room's members is requested, or when a sync sends the event again.
    static let privilegedCreators = """
        ALTER TABLE roomState ADD COLUMN privilegedCreators TEXT;

        UPDATE roomState SET privilegedCreators = creator
        WHERE instr(creator, ' ') = 0 AND room IN (SELECT key FROM room WHERE instr(id, ':') = 0);
        """
}
