import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(10))) struct StoreRepairTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.path("store") }

    private enum File: String {
        case history = "chat.sqlite"
        case unsent = "unsent.sqlite"
    }

    private func path(_ file: File) -> URL { url.appendingPathComponent(file.rawValue) }

    /// Creates a store with 200 messages, some of which overflow a page, 20 drafts and 20 queued requests.
    private func makeStore() async throws {
        let store = try await ChatStore.open(in: url)
        for number in 1...20 {
            let room = Fixtures.room("room-\(number)")
            try await store.createRoom(
                NewRoom(room: room, members: [Fixtures.own, Fixtures.other], createdAt: Fixtures.date))
            _ = try await store.saveDraft(Self.draft(number), in: room.id)
            try await store.commit(OutboxChange(put: [Self.request(number)]))
        }
        for number in 1...200 {
            let message = Self.message(number)
            _ = try await store.append(
                NewMessage(id: message.id, sender: message.sender, text: message.text, sentAt: message.sentAt),
                to: message.roomID)
        }
        _ = try await store.setReaction(
            "👍", isAdded: true, to: MessageID("message-7"), in: RoomID("room-1"), by: Fixtures.other.id,
            at: Fixtures.date)
        await store.close()
    }

    private static func message(_ number: Int) -> Message {
        let text = "text \(number) " + String(repeating: "\(number % 10)", count: number % 9 == 0 ? 9000 : 100)
        return Fixtures.message(
            Int64(number), in: "room-1", by: number % 2 == 0 ? Fixtures.own : Fixtures.other, text: text)
    }

    private static func draft(_ number: Int) -> SavedDraft {
        SavedDraft(
            data: Data("draft \(number) ".utf8) + Data(repeating: UInt8(number), count: 700), preview: "draft \(number)"
        )
    }

    private static func request(_ number: Int) -> OutboxRequest {
        OutboxRequest(
            id: TransactionID("t\(number)"), room: RoomID("room-\(number)"),
            action: .send(WrittenMessage("queued \(number) " + String(repeating: "q", count: 400))),
            queuedAt: Fixtures.date)
    }

    /// Overwrites pages; numbers start at 1.
    private func overwrite(_ pages: some Sequence<Int>, of file: File) throws {
        var bytes = try Data(contentsOf: path(file))
        for page in pages {
            bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(repeating: 0xA5, count: 4096))
        }
        try bytes.write(to: path(file))
        try Data("opening\n".utf8).write(to: url.appendingPathComponent("chat.lock"))
    }

    private func pages(holding text: String, in file: File) throws -> Set<Int> {
        let bytes = try Data(contentsOf: path(file))
        var pages: Set<Int> = []
        var start = bytes.startIndex
        while let found = bytes.range(of: Data(text.utf8), in: start..<bytes.endIndex) {
            pages.insert(found.lowerBound / 4096 + 1)
            start = found.upperBound
        }
        return pages
    }

    /// Unread marks are recovered, including those not sent to the server yet. Their table has no row IDs: it is lost
    /// with its first page.
    @Test func unreadMarksAreRecovered() async throws {
        try await makeStore()
        let store = try await ChatStore.open(in: url)
        try await store.setMarkedUnread(true, in: RoomID("room-2"), isUnsent: false)
        try await store.setMarkedUnread(true, in: RoomID("room-3"), isUnsent: true)
        await store.close()
        let lost = try pages(holding: "text 100 ", in: .history)
        try overwrite(lost, of: .history)
        _ = try ChatStore.repair(at: url, now: Fixtures.date)
        let repaired = try await ChatStore.open(in: url)
        let marked = try await repaired.roomSummaries().filter(\.isMarkedUnread).map(\.room.id.rawValue)
        #expect(marked.sorted() == ["room-2", "room-3"])
        #expect(try await repaired.unsentUnreadMarks() == [RoomID("room-3"): true])
        await repaired.close()
    }

    @Test func rowsOnIntactPagesAreRecovered() async throws {
        try await makeStore()
        // The first page, and the pages of one message.
        let lost = try pages(holding: "text 100 ", in: .history)
        try overwrite([1] + lost, of: .history)
        await #expect(throws: StoreOpeningError.self) { try await ChatStore.open(in: url) }
        let damaged = try Data(contentsOf: path(.history))
        let repair = try ChatStore.repair(at: url, now: Fixtures.date)
        #expect(repair.setAside.lastPathComponent == "store-damaged-20260102-030405")
        #expect(try Data(contentsOf: repair.setAside.appendingPathComponent("chat.sqlite")) == damaged)
        #expect(repair.rooms == 20 && repair.drafts == 20 && repair.queued == 20)
        let store = try await ChatStore.open(in: url)
        let found = try await store.messages(in: RoomID("room-1"), before: .max, limit: 500).messages
        #expect(found.count == repair.messages && found.count > 160, "\(found.count)")
        for message in found where message.id != MessageID("message-7") {
            #expect(message == Self.message(Int(message.position)))
        }
        #expect(!found.contains { $0.position == 100 })
        #expect(try await store.integrityProblems() == [])
        let summary = try await store.roomSummaries().first { $0.room.id == RoomID("room-1") }
        #expect(summary?.lastMessage?.text == Self.message(200).text.preview)
        // Recovered messages can be searched, and rooms accept new ones.
        #expect(try await store.search(SearchQuery(text: "text 150")).messages.map(\.position) == [150])
        let new = NewMessage(id: MessageID("new"), sender: Fixtures.own.id, text: "new", sentAt: Fixtures.date)
        #expect(try await store.append(new, to: RoomID("room-1")).message.position == 201)
        await store.close()
    }

    @Test func rowsOfALostRoomAreNotRecovered() async throws {
        try await makeStore()
        let history = try DatabaseQueue(path: path(.history).path)
        try await history.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    INSERT INTO gap (room, position, token) SELECT key, 7, 'lost' FROM room WHERE id = 'room-20';
                    INSERT INTO gap (room, position, token) SELECT key, 7, 'kept' FROM room WHERE id = 'room-19';
                    DELETE FROM room WHERE id = 'room-20';
                    """)
        }
        try history.close()
        try overwrite(pages(holding: "text 100 ", in: .history), of: .history)
        _ = try ChatStore.repair(at: url)
        let repaired = try DatabaseQueue(path: path(.history).path)
        try await repaired.read { db in
            let tokens = try String.fetchAll(db, sql: "SELECT token FROM gap")
            #expect(tokens == ["kept"])
            let dangling = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check")
            #expect(dangling.isEmpty)
        }
        try repaired.close()
    }

    @Test func draftsAndRequestsAreRecoveredWithoutTheirTrees() async throws {
        try await makeStore()
        let bytes = try Data(contentsOf: path(.unsent))
        // All pages but table leaves, whose b-tree page type is 13.
        let others = (1...bytes.count / 4096).filter { $0 == 1 || bytes[($0 - 1) * 4096] != 13 }
        try overwrite(others, of: .unsent)
        let repair = try ChatStore.repair(at: url)
        #expect(repair.messages == 200 && repair.rooms == 20 && repair.drafts == 20 && repair.queued == 20)
        let store = try await ChatStore.open(in: url)
        for number in 1...20 {
            #expect(try await store.draft(in: RoomID("room-\(number)")) == Self.draft(number))
        }
        #expect(try await store.outboxRequests() == (1...20).map(Self.request))
        let page = try await store.messages(in: RoomID("room-1"), before: .max, limit: 500)
        #expect(page.messages.first { $0.id == MessageID("message-7") }?.reactions.count == 1)
        await store.close()
    }

    /// A recovered row may be from before the attempt, and rows of earlier versions do not tell.
    @Test(arguments: [true, false]) func recoveredRequestsCountAsAttempted(areEarlier: Bool) async throws {
        try await makeStore()
        let queue = try DatabaseQueue(path: path(.unsent).path)
        try await queue.writeWithoutTransaction { db in
            try db.execute(
                sql: areEarlier
                    ? "ALTER TABLE outbox DROP COLUMN isUntried; PRAGMA user_version = 1"
                    : "UPDATE outbox SET isUntried = 1")
        }
        try queue.close()
        try overwrite([1], of: .unsent)
        #expect(try ChatStore.repair(at: url).queued == 20)
        let store = try await ChatStore.open(in: url)
        #expect(try await store.outboxRequests() == (1...20).map(Self.request))
        await store.close()
    }

    @Test func roomsAreRecreatedForOrphanedDrafts() async throws {
        try await makeStore()
        try FileManager.default.removeItem(at: path(.history))
        let repair = try ChatStore.repair(at: url)
        #expect(repair.messages == 0 && repair.rooms == 20 && repair.drafts == 20)
        let store = try await ChatStore.open(in: url)
        #expect(try await store.draft(in: RoomID("room-3")) == Self.draft(3))
        await store.close()
    }

    /// Damages the first frame's salt, or also the header of the write-ahead log, which has the reference salt.
    @Test(arguments: [[32 + 10], [2, 32 + 10]]) func intactFramesOfTheWriteAheadLogAreRecovered(broken: [Int])
        async throws
    {
        try await makeStore()
        let store = try await ChatStore.open(in: url)
        _ = try await store.saveDraft(Fixtures.draft("in the log"), in: RoomID("room-1"))
        for number in 30...39 { try await store.commit(OutboxChange(put: [Self.request(number)])) }
        let copy = folder.path("copy")
        try FileManager.default.copyItem(at: url, to: copy)
        await store.close()
        let log = copy.appendingPathComponent("unsent.sqlite-wal")
        var bytes = try Data(contentsOf: log)
        for place in broken { bytes[place] ^= 0xFF }
        try bytes.write(to: log)
        await #expect(throws: StoreOpeningError.self) { try await ChatStore.open(in: copy) }
        let repair = try ChatStore.repair(at: copy)
        #expect(repair.queued == 30 && repair.drafts == 20)
        let reopened = try await ChatStore.open(in: copy)
        #expect(try await reopened.draft(in: RoomID("room-1")) == Fixtures.draft("in the log"))
        #expect(try await reopened.outboxRequests().last == Self.request(39))
        await reopened.close()
    }

    /// The references to a file may be lost, so a repaired store never sweeps files.
    @Test(arguments: [true, false]) func filesAreNotSweptAfterARepair(isRepaired: Bool) async throws {
        try await makeStore()
        let archive = MediaArchive(folder: folder.path("media"))
        let content = try await archive.store(.data(Data("a picture".utf8))) { _ in }
        if isRepaired {
            try overwrite([1], of: .history)
            _ = try ChatStore.repair(at: url)
            // A second repair must set the lost no-sweep flag again.
            try overwrite([1], of: .history)
            _ = try ChatStore.repair(at: url)
        }
        let store = try await ChatStore.open(in: url)
        await archive.sweep("media:", knownBy: store, at: .distantFuture)
        #expect((archive.url(of: content.digest) != nil) == isRepaired)
        await store.close()
    }

    /// Stores of versions whose tables had fewer columns.
    @Test(arguments: [5, 7, 8, 11]) func earlierVersionsAreRepaired(version: Int) async throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try await makeEarlier(.history, version, in: .history) { db in
            try db.execute(
                sql: """
                    INSERT INTO room (key, id, kind, name, lastActivity) VALUES (1, 'room', 'group', 'A room', 5000);
                    INSERT INTO user VALUES (1, 'own');
                    INSERT INTO member VALUES (1, 1, 'own', 'own', 'Robin', 0);
                    INSERT INTO message (key, room, arrival, id, sender, sentAt, text)
                    VALUES ((1 << 40) + 1, 1, 1, 'a', 1, 1000, 'one');
                    INSERT INTO attachment (message, place, uri, name, type) VALUES ((1 << 40) + 1, 0, 'media:1', 'n', 't');
                    INSERT INTO revision (message, number, writtenAt, text) VALUES ((1 << 40) + 1, 1, 900, 'on');
                    INSERT INTO receipt (room, member, message, readAt) VALUES (1, 'other', 'a', 2000);
                    INSERT INTO gap (room, position, token) VALUES (1, 1, 'token');
                    """)
        }
        try await makeEarlier(.pending, Schema.pending.version, in: .unsent) { _ in }
        let queue = try DatabaseQueue(path: path(.history).path)
        let root = try await queue.read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'media_digest'")
        }
        try queue.close()
        try overwrite([#require(root)], of: .history)
        #expect(try ChatStore.repair(at: url).messages == 1)
        let store = try await ChatStore.open(in: url)
        let counts = try await store.read { db in
            try ["attachment", "revision", "receipt", "gap"].map {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")
            }
        }
        #expect(counts == [1, 1, 1, 1])
        #expect(try await store.mediaReferences(scheme: "media:") == ["media:1"])
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    private func makeEarlier(
        _ schema: Schema, _ version: Int, in file: File, _ fill: @escaping @Sendable (Database) throws -> Void
    ) async throws {
        let queue = try DatabaseQueue(path: path(file).path)
        try Schema(applicationID: schema.applicationID, steps: Array(schema.steps.prefix(version))).migrate(queue)
        try await queue.write(fill)
        try queue.close()
    }

    @Test func storeInUseIsNotRepaired() async throws {
        let store = try await ChatStore.open(in: url)
        // Another process may be building it.
        try makeFolder("store-repair-0123ABCD")
        #expect(throws: StoreOpeningError.busy) { try ChatStore.repair(at: url) }
        #expect(try names() == ["store", "store-repair-0123ABCD"])
        await store.close()
    }

    private func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(at: folder.path(name), withIntermediateDirectories: true)
        try Data("any".utf8).write(to: folder.path(name).appendingPathComponent("chat.sqlite"))
    }

    /// The names of the store and of what lies beside it.
    private func names() throws -> Set<String> {
        try Set(FileManager.default.contentsOfDirectory(atPath: folder.url.path))
    }

    /// Removes what a killed repair had built, and nothing with a similar name.
    @Test func unfinishedRepairIsRemoved() async throws {
        try await makeStore()
        try overwrite([1], of: .history)
        let others = [
            "store-damaged-20260101-000000", "store-repair-0123abcd", "store-repair-0123ABC", "store-repair-0123ABCDE",
            "store-repair-0123ABCD-2", "store-repair-0123ABCG", "store-repair-", "other-repair-0123ABCD",
        ]
        for name in others + ["store-repair-0123ABCD", "store-repair-FFFFFFFF"] { try makeFolder(name) }
        let repair = try ChatStore.repair(at: url, now: Fixtures.date)
        #expect(repair.rooms == 20)
        #expect(try names() == Set(others + ["store", "store-damaged-20260102-030405"]))
    }

    /// The damaged store is neither replaced nor removed when all names for it are in use.
    @Test func storeThatCannotBeSetAsideStaysInPlace() async throws {
        try await makeStore()
        try overwrite([1], of: .history)
        let damaged = try Data(contentsOf: path(.history))
        let usedNames = (1...1000).map { "store-damaged-20260102-030405" + ($0 == 1 ? "" : "-\($0)") }
        for name in usedNames {
            try FileManager.default.createDirectory(at: folder.path(name), withIntermediateDirectories: true)
        }
        #expect(throws: StoreOpeningError.self) { try ChatStore.repair(at: url, now: Fixtures.date) }
        #expect(try Data(contentsOf: path(.history)) == damaged)
        #expect(try names() == Set(usedNames + ["store"]))
    }

    @Test func newerStoreIsNotRepaired() async throws {
        try await makeStore()
        let queue = try DatabaseQueue(path: path(.history).path)
        try await queue.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA user_version = 99") }
        try queue.close()
        #expect(throws: StoreOpeningError.newerSchema(found: 99, supported: Schema.history.version)) {
            try ChatStore.repair(at: url)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store"])
    }

    /// A large history opens immediately and is checked in the background.
    @Test func largeHistoryIsCheckedInTheBackground() async throws {
        try await makeStore()
        let store = try await ChatStore.open(in: url)
        try await store.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
                    INSERT INTO setting (name, value) SELECT 'large' || i, hex(zeroblob(250000)) FROM n
                    """)
        }
        #expect(store.needsCheck == false)
        await store.close()
        try overwrite(try pages(holding: "text 100 ", in: .history), of: .history)
        let large = try await ChatStore.open(in: url)
        #expect(large.needsCheck)
        #expect(try await large.draft(in: RoomID("room-2")) == Self.draft(2))
        #expect(await large.checkHistory() != nil)
        #expect(large.needsCheck == false)
        await large.close()
        await #expect(throws: StoreOpeningError.self) { try await ChatStore.open(in: url) }
        #expect(try ChatStore.repair(at: url).drafts == 20)
        let reopened = try await ChatStore.open(in: url)
        #expect(await reopened.checkHistory() == nil)
        await reopened.close()
        #expect(try String(contentsOf: url.appendingPathComponent("chat.lock"), encoding: .utf8) == "clean\n")
    }

    @Test func malformedRecordsAreNeverReadOutOfBounds() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let record = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = LooseRow(key: 1, record: record).values()
        }
        #expect(LooseRow(key: 1, record: [3, 1, 15, 7, 65]).values() == [Int64(7).databaseValue, "A".databaseValue])
        #expect(LooseRow(key: 1, record: [3, 1, 15, 7, 0xFF]).values() == nil)
        #expect(LooseRow(key: 1, record: [3, 1, 15, 7, 65, 66]).values() == nil)
        #expect(
            LooseRow(key: 1, record: [2, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE]).values() == [Int64(-2).databaseValue])
    }
}
