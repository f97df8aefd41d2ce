import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(10))) struct MigrationTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.path("store") }

    /// Creates a store as version 1 left it.
    private func makeFirstVersion() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: url.appendingPathComponent("chat.sqlite").path)
        try queue.write { db in
            try db.execute(sql: Schema.history.steps[0])
            try db.execute(
                sql: """
                    INSERT INTO room VALUES (1, 'room', 'group', 'A room', 5000, 2, 1, 3, 'three');
                    INSERT INTO room VALUES (2, 'other', 'notes', 'Notes', 6000, NULL, 0, NULL, NULL);
                    INSERT INTO member VALUES (1, 1, 'own', 'own', 'Robin', 0), (2, 1, 'other', 'person', 'Alex', 0),
                        (3, 2, 'own', 'own', 'Robin', 0);
                    INSERT INTO message VALUES
                        (1, 1, 1, 'a', 1, 1000, 0, 0, 1500, 't1', NULL, 'one'),
                        (2, 1, 2, 'b', 2, 2000, 1, 0, NULL, NULL, NULL, ''),
                        (3, 1, 3, 'c', 2, 3000, 0, 0, NULL, NULL, 'a', 'three');
                    INSERT INTO draft VALUES (1, 'unsent', x'0102');
                    INSERT INTO roomSetting VALUES (1, 'name', 'value');
                    PRAGMA application_id = \(Schema.history.applicationID);
                    PRAGMA user_version = 1;
                    """)
        }
        try queue.close()
        try Data("clean\n".utf8).write(to: url.appendingPathComponent("chat.lock"))
    }

    @Test func firstVersionIsMigrated() async throws {
        try makeFirstVersion()
        let store = try await ChatStore.open(in: url)
        let snapshot = try #require(try await store.snapshot(of: RoomID("room"), limit: 10))
        func message(_ id: String, _ position: Int64, by sender: Member, _ text: String) -> Message {
            Message(
                id: MessageID(id), roomID: RoomID("room"), sender: sender.id, text: text,
                sentAt: Date(timeIntervalSince1970: Double(position)), position: position)
        }
        var first = message("a", 1, by: Fixtures.own, "one")
        first.editedAt = Date(timeIntervalSince1970: 1.5)
        first.transactionID = TransactionID("t1")
        var second = message("b", 2, by: Fixtures.other, "")
        second.isDeleted = true
        var third = message("c", 3, by: Fixtures.other, "three")
        third.replyTo = MessageID("a")
        #expect(snapshot.page == TimelinePage(messages: [first, second, third], hasOlder: false))
        #expect(snapshot.fullyReadMarker == MessageID("b"))
        let summaries = try await store.roomSummaries()
        #expect(summaries.map(\.room.name) == ["Notes", "A room"])
        #expect(summaries[1].lastMessage?.text == "three")
        #expect(summaries[1].lastMessage?.senderName == "Alex")
        #expect(summaries[1].unreadCount == 1)
        #expect(summaries[1].draftPreview == "unsent")
        let draft = SavedDraft(data: Data([1, 2]), preview: "unsent")
        #expect(try await store.draft(in: RoomID("room")) == draft)
        #expect(try await store.setting("name", of: RoomID("room")) == "value")
        #expect(try await store.integrityProblems() == [])
        let found = try await store.read { db in
            try Int64.fetchAll(db, sql: "SELECT rowid FROM wordIndex WHERE wordIndex MATCH 'three'")
        }
        #expect(found == [3])
        await store.close()
    }

    /// Killed between the two files: both have the drafts, and the history still has its old version.
    @Test func interruptedMigrationIsRepeated() async throws {
        try makeFirstVersion()
        let unsent = url.appendingPathComponent("unsent.sqlite")
        try Data().write(to: unsent)
        try Data("opening\n".utf8).write(to: url.appendingPathComponent("chat.lock"))
        let store = try await ChatStore.open(in: url)
        #expect(try await store.draft(in: RoomID("room"))?.preview == "unsent")
        await store.close()
    }

    /// Versions before ``Schema/marks`` could insert history after newer messages.
    @Test func outOfOrderHistoryIsRequestedAgain() async throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: url.appendingPathComponent("chat.sqlite").path)
        let before = try #require(Schema.stepThatRefetchesHistory) - 1
        let old = Schema(
            applicationID: Schema.history.applicationID, steps: Array(Schema.history.steps.prefix(before)))
        try old.migrate(queue)
        let unsent = try DatabaseQueue(path: url.appendingPathComponent("unsent.sqlite").path)
        try Schema.pending.migrate(unsent)
        try unsent.close()
        // Ann's messages, named after the minute they were sent in; only one of the two rooms is in order.
        let wrong = [(10, 1), (11, 2), (12, 3), (4, -3), (5, -2), (13, -1), (14, 0), (20, 4), (21, 5)]
        let right = [(1, -5), (2, -4), (10, 6), (11, 7), (12, -7), (13, -6), (20, 8)]
        try await queue.write { db in
            try db.execute(sql: "INSERT INTO user VALUES (1, '@ann:a')")
            for (room, rows) in [(Int64(1), wrong), (2, right)] {
                try db.execute(
                    sql: """
                        INSERT INTO room (key, id, kind, name, lastActivity, readUpTo) VALUES (?1, 'r' || ?1, 'group', 'A', 0, 0);
                        """, arguments: [room])
                try db.execute(sql: "INSERT INTO roomSetting VALUES (?, 'matrix.encrypted', '0')", arguments: [room])
                try db.execute(
                    sql: "INSERT INTO member (room, id, kind, name) VALUES (?, '@ann:a', 'person', 'Ann')",
                    arguments: [room])
                for (place, (minute, arrival)) in rows.enumerated() {
                    try db.execute(
                        sql: """
                            INSERT INTO message (key, room, arrival, id, sender, sentAt, text) VALUES (?, ?, ?, ?, 1, ?, ?)
                            """,
                        arguments: [
                            MessageKey(room: room, position: Int64(place + 1)).raw, room, arrival, "$\(room)-\(minute)",
                            minute * 120_000, "\(minute)",
                        ])
                }
            }
        }
        try queue.close()
        try Data("clean\n".utf8).write(to: url.appendingPathComponent("chat.lock"))
        let store = try await ChatStore.open(in: url)
        func texts(_ room: String) async throws -> [String] {
            try await store.messages(in: RoomID(room), before: .max, limit: 100).messages.map(\.text)
        }
        #expect(try await texts("r1") == ["10", "11", "12", "20", "21"])
        #expect(try await store.gaps(in: RoomID("r1")).map(\.eventBehind) == [MessageID("$1-10"), MessageID("$1-20")])
        #expect(try await store.roomSummaries().first { $0.id == RoomID("r1") }?.unreadCount == 5)
        #expect(try await texts("r2") == right.map { "\($0.0)" })
        #expect(try await store.gaps(in: RoomID("r2")).isEmpty)
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("Notices in place of encrypted messages become sealed messages, to be requested again")
    func noticesBecomeSealed() async throws {
        let queue = try historyBefore(Schema.sealed)
        let notices = [
            "Encrypted message (not supported yet)", "Verschlüsselte Nachricht (noch nicht unterstützt)",
            "Another notice",
        ]
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO user VALUES (1, '@ann:a');
                    INSERT INTO room (key, id, kind, name, lastActivity) VALUES
                        (1, 'sealed', 'group', 'A', 0), (2, 'clear', 'group', 'B', 0);
                    INSERT INTO member (room, id, kind, name) VALUES
                        (1, '@ann:a', 'person', 'Ann'), (2, '@ann:a', 'person', 'Ann');
                    INSERT INTO encryptedRoom VALUES (1);
                    """)
            for room: Int64 in [1, 2] {
                for (number, text) in notices.enumerated() {
                    let key = MessageKey(room: room, position: Int64(number)).raw
                    try db.execute(
                        sql: """
                            INSERT INTO message (key, room, arrival, id, sender, sentAt, kind, text)
                            VALUES (?, ?, ?, ?, 1, ?, 2, ?)
                            """, arguments: [key, room, room * 10 + Int64(number), "$\(number)", number, text])
                }
                try db.execute(
                    sql: "UPDATE room SET lastMessage = ?, lastText = ? WHERE key = ?",
                    arguments: [MessageKey(room: room, position: 1).raw, notices[1], room])
            }
        }
        try queue.close()
        try Data("clean\n".utf8).write(to: url.appendingPathComponent("chat.lock"))
        let store = try await ChatStore.open(in: url)
        let sealed = try await store.messages(in: RoomID("sealed"), before: .max, limit: 9).messages
        #expect(sealed.map(\.seal) == [.notFetched, .notFetched, nil])
        #expect(sealed.map(\.text) == ["", "", "Another notice"])
        let clear = try await store.messages(in: RoomID("clear"), before: .max, limit: 9).messages
        #expect(clear.map(\.text) == notices && clear.allSatisfy { $0.kind == .notice })
        #expect(try await store.search(SearchQuery(text: "supported")).messages.map(\.roomID.rawValue) == ["clear"])
        #expect(
            try await store.unfetchedMessages(in: RoomID("sealed"), limit: 9).map(\.rawValue) == ["$1", "$0"])
        let summary = try await store.roomSummaries().first { $0.id == RoomID("sealed") }
        #expect(summary?.lastMessage?.isSealed == true && summary?.lastMessage?.text == "")
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    /// Makes the files of a store as they were before a step of the history's schema.
    /// - Returns: the history.
    @Test("Edits that an earlier version could not read mark the messages that they edit")
    func sealedEditsMarkMessages() async throws {
        let queue = try historyBefore(Schema.sealedEdits)
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO user VALUES (1, '@ann:a');
                    INSERT INTO room (key, id, kind, name, lastActivity) VALUES (1, 'sealed', 'group', 'A', 0);
                    INSERT INTO member (room, id, kind, name) VALUES (1, '@ann:a', 'person', 'Ann');
                    """)
            for number: Int64 in 0..<4 {
                try db.execute(
                    sql: """
                        INSERT INTO message (key, room, arrival, id, sender, sentAt, kind, text)
                        VALUES (?, 1, ?, ?, 1, ?, 0, 'x')
                        """,
                    arguments: [MessageKey(room: 1, position: number).raw, number, "$\(number)", number])
            }
            func relation(_ type: String, _ target: String) -> String {
                #"{"sender": "@ann:a", "origin_server_ts": 5000, "#
                    + #""content": {"m.relates_to": {"rel_type": "\#(type)", "event_id": \#(target)}}}"#
            }
            // The others edit no message.
            let rows: [(event: String, data: String?)] = [
                ("$a", relation("m.replace", "\"$0\"")), ("$b", relation("m.thread", "\"$1\"")),
                ("$c", relation("m.replace", "[]")), ("$d", "damaged"), ("$e", nil),
            ]
            for row in rows {
                try db.execute(
                    sql: "INSERT INTO sealed VALUES (1, ?, 's', 'noKey', ?)", arguments: [row.event, row.data])
            }
        }
        try queue.close()
        try Data("clean\n".utf8).write(to: url.appendingPathComponent("chat.lock"))
        let store = try await ChatStore.open(in: url)
        let messages = try await store.messages(in: RoomID("sealed"), before: .max, limit: 9).messages
        #expect(messages.map(\.unreadableEdit) == [.noKey, nil, nil, nil])
        let session = SealedSession(room: RoomID("sealed"), session: "s")
        let sealed = try await store.sealedEvents(of: session, after: nil, limit: 9)
        #expect(sealed.map(\.edits) == [MessageID("$0"), nil, nil, nil, nil])
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    private func historyBefore(_ step: String) throws -> DatabaseQueue {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: url.appendingPathComponent("chat.sqlite").path)
        let count = try #require(Schema.history.steps.firstIndex(of: step))
        try Schema(applicationID: Schema.history.applicationID, steps: Array(Schema.history.steps.prefix(count)))
            .migrate(queue)
        let unsent = try DatabaseQueue(path: url.appendingPathComponent("unsent.sqlite").path)
        try Schema.pending.migrate(unsent)
        try unsent.close()
        return queue
    }

    @Test("Settings of Matrix rooms become their state")
    func roomSettingsBecomeRoomState() async throws {
        let queue = try historyBefore(Schema.roomStates)
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO room (key, id, kind, name, lastActivity)
                    VALUES (1, 'whole', 'group', 'A', 0), (2, 'clear', 'group', 'B', 0), (3, 'local', 'group', 'C', 0);
                    INSERT INTO roomSetting VALUES
                        (1, 'matrix.encrypted', '1'), (1, 'matrix.name', 'Garden'), (1, 'matrix.alias', '#garden:a'),
                        (1, 'topic', 'Beds'), (1, 'matrix.avatar', 'mxc://a/b'), (1, 'matrix.heroes', '@ann:a @bob:a'),
                        (1, 'matrix.hero', '@ann:a'), (1, 'matrix.joinedCount', '12'),
                        (1, 'matrix.powerLevels', '{"ban":50}'), (1, 'matrix.creation', '1500 @ann:a'),
                        (1, 'matrix.replacement', 'next'), (1, 'matrix.replacementReason', 'why'),
                        (1, 'matrix.predecessor', 'previous'), (1, 'matrix.unsentMark', '$1'),
                        (2, 'matrix.encrypted', '0'), (2, 'matrix.name', ''), (2, 'matrix.alias', ''),
                        (3, 'topic', 'Local');
                    INSERT INTO setting VALUES ('matrix.space.!space:a', '1'), ('matrix.sync.plain', 's1');
                    """)
        }
        try queue.close()
        try Data("clean\n".utf8).write(to: url.appendingPathComponent("chat.lock"))
        let store = try await ChatStore.open(in: url)
        var whole = RoomState()
        whole.encryption = .on
        (whole.name, whole.alias, whole.topic, whole.avatar) = ("Garden", "#garden:a", "Beds", "mxc://a/b")
        whole.heroes = [MemberID("@ann:a"), MemberID("@bob:a")]
        (whole.joinedCount, whole.powerLevels) = (12, #"{"ban":50}"#)
        // A later step gives creators of rooms whose ID has no domain infinite power.
        whole.creation = RoomState.Creation(
            creator: MemberID("@ann:a"), at: Date(timeIntervalSince1970: 1.5), privileged: [MemberID("@ann:a")])
        whole.succession = RoomSuccession(next: "next", reason: "why", previous: "previous")
        #expect(try await store.roomState(of: RoomID("whole")) == whole)
        var clear = RoomState()
        clear.encryption = .off
        #expect(try await store.roomState(of: RoomID("clear")) == clear)
        #expect(try await store.roomState(of: RoomID("local")) == RoomState())
        #expect(try await store.setting("topic", of: RoomID("local")) == "Local")
        #expect(try await store.unsentReadMarkers() == [RoomID("whole"): MessageID("$1")])
        let known = try await store.knownRooms([KnownRoom.Request(RoomID("!space:a"))], ownUserID: MemberID("@me:a"))
        #expect(known.spaces == [RoomID("!space:a")] && known.rooms.isEmpty)
        #expect(try await store.setting("matrix.sync.plain") == "s1")
        #expect(try await store.roomSummaries().first { $0.id == RoomID("whole") }?.room.address == "#garden:a")
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("Creators of stored rooms have infinite power if the room ID has no domain, as from version 12 on")
    func creatorsOfStoredRooms() async throws {
        let queue = try historyBefore(Schema.privilegedCreators)
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO room (key, id, kind, name, lastActivity)
                    VALUES (1, '!old:a', 'group', 'A', 0), (2, '!new', 'group', 'B', 0), (3, '!odd', 'group', 'C', 0),
                        (4, '!none', 'group', 'D', 0);
                    INSERT INTO roomState (room, creator, createdAt)
                    VALUES (1, '@ann:a', 0), (2, '@ann:a', 0), (3, '@ann @bob:a', 0), (4, NULL, NULL);
                    """)
        }
        try queue.close()
        try Data("clean\n".utf8).write(to: url.appendingPathComponent("chat.lock"))
        let store = try await ChatStore.open(in: url)
        func privileged(_ room: String) async throws -> Set<MemberID>? {
            try await store.roomState(of: RoomID(room)).creation?.privileged
        }
        #expect(try await privileged("!old:a") == [])
        #expect(try await privileged("!new") == [MemberID("@ann:a")])
        #expect(try await privileged("!odd") == [], "one ID never becomes two")
        #expect(try await privileged("!none") == nil)
        try await store.updateRoomState(of: RoomID("!new")) {
            $0.creation?.privileged = [MemberID("@bob:a"), MemberID("@ann:a")]
        }
        #expect(try await privileged("!new") == [MemberID("@ann:a"), MemberID("@bob:a")])
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    /// Recovery assigns loose b-tree pages to their table by the number of columns.
    @Test func eachRowIDTableHasAUniqueColumnCount() async throws {
        let store = try await ChatStore.open(in: url)
        @Sendable func counts(_ db: Database) throws -> [Int] {
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0
                        AND sql NOT LIKE '%WITHOUT ROWID%' AND name NOT LIKE '%Index\\_%' ESCAPE '\\'
                        AND name NOT LIKE 'sqlite%'
                    """)
            return try tables.map { try db.columns(in: $0).count }
        }
        let history = try await store.read(counts)
        #expect(history.count == 4 && Set(history).count == 4, "\(history)")
        let unsent = try await store.readPending(counts)
        #expect(unsent.count == 3 && Set(unsent).count == 3, "\(unsent)")
    }
}
