extension Schema {
    /// How late the latest of each 1,024 messages is that arrived one after the other: by it a search that goes through
    /// them as they arrived knows when it has found the latest. A message that is deleted leaves a bound that is too
    /// late, which does no harm.
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
