extension Schema {
    /// The latest send time in each block of 1,024 consecutive arrivals, from which a search in order of arrival
    /// knows when it has found the latest matches. Deleted messages may leave a bound too late, which is harmless.
    static let search = """
        CREATE TABLE arrivalBlock (
            block INTEGER NOT NULL PRIMARY KEY,
            latest INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        INSERT INTO arrivalBlock SELECT arrival >> 10, max(sentAt) FROM message GROUP BY 1;

        CREATE TRIGGER message_arrived AFTER INSERT ON message BEGIN
            INSERT INTO arrivalBlock VALUES (new.arrival >> 10, new.sentAt)
            ON CONFLICT (block) DO UPDATE SET latest = excluded.latest WHERE excluded.latest > latest;
        END;
        CREATE TRIGGER message_moved AFTER UPDATE OF sentAt ON message BEGIN
            INSERT INTO arrivalBlock VALUES (new.arrival >> 10, new.sentAt)
            ON CONFLICT (block) DO UPDATE SET latest = excluded.latest WHERE excluded.latest > latest;
        END;
        """
}
