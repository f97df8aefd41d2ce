import ChatCore
import ChatTestSupport
import Composer
import Foundation
import GRDB
import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(10))) struct ChatStoreTests {
    @Test func usesAWriteAheadLogAndFullSync() async throws {
        let store = try await StoreFixture().store
        @Sendable func settings(_ db: Database) throws -> [String?] {
            try ["journal_mode", "synchronous", "foreign_keys", "secure_delete"].map { name in
                try String.fetchOne(db, sql: "PRAGMA \(name)")
            }
        }
        #expect(try await store.write(settings) == ["wal", "2", "1", "1"])
        #expect(try await store.writePending(settings) == ["wal", "2", "1", "1"])
        #expect(try await store.writeCache(settings) == ["wal", "1", "1", "1"])
        await #expect(throws: ChatError.notFound) { try await store.writeCache { _ in throw ChatError.notFound } }
        #expect(try await store.write(settings) == ["wal", "2", "1", "1"])
    }

    @Test func filesAreAccessibleOnlyToTheUser() async throws {
        let fixture = try await StoreFixture()
        try await fixture.append(1)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(fixture.url.path) == 0o700)
        let files = try FileManager.default.contentsOfDirectory(atPath: fixture.url.path)
        #expect(
            files.sorted() == [
                "chat.lock", "chat.sqlite", "chat.sqlite-shm", "chat.sqlite-wal", "unsent.sqlite", "unsent.sqlite-shm",
                "unsent.sqlite-wal",
            ])
        for file in files { #expect(try mode(fixture.url.appendingPathComponent(file).path) == 0o600) }
    }

    @Test func overlyPermissiveModesAreTightened() async throws {
        let fixture = try await StoreFixture()
        await fixture.store.close()
        let database = fixture.url.appendingPathComponent("chat.sqlite").path
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fixture.url.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: database)
        await (try ChatStore.open(in: fixture.url)).close()
        for (path, mode) in [(fixture.url.path, 0o700), (database, 0o600)] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
        }
    }

    @Test("A store that has released its memory works as before; releasing a closed one does nothing.")
    func releasesMemory() async throws {
        let fixture = try await StoreFixture()
        let first = try await fixture.append(1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...20 {
                group.addTask { await fixture.store.releaseMemory() }
                group.addTask { _ = try await fixture.summary() }
            }
            try await group.waitForAll()
        }
        let second = try await fixture.append(2)
        let stored = try await fixture.store.messages([first.id, second.id], in: fixture.room)
        #expect(Set(stored.map(\.text)) == [first.text, second.text])
        async let closing: Void = fixture.store.close()
        await fixture.store.releaseMemory()
        await closing
        await fixture.store.releaseMemory()
    }

    /// A repaired store has lost its settings but still has its rooms.
    @Test func uniqueRoomsAreCreatedOnce() async throws {
        let store = try await StoreFixture().store
        func room(_ id: String, _ kind: Room.Kind) -> NewRoom {
            NewRoom(
                room: Room(id: RoomID(id), name: id, kind: kind), members: [Fixtures.own], createdAt: Fixtures.date)
        }
        #expect(try await store.createRooms([room("notes", .notes), room("welcome", .guide)], once: "a"))
        #expect(try await store.createRooms([room("notes2", .notes), room("welcome2", .guide)], once: "b"))
        #expect(try await !store.createRooms([room("notes3", .notes)], once: "a"))
        let rooms = try await store.roomSummaries().map(\.id.rawValue).filter { $0.hasPrefix("n") || $0.hasPrefix("w") }
        #expect(Set(rooms) == ["notes", "welcome"])
    }

    @Test func everyFieldSurvivesARoundTrip() async throws {
        let fixture = try await StoreFixture()
        let new = NewMessage(
            id: MessageID("id"), sender: Fixtures.own.id, text: "text", sentAt: Fixtures.date,
            transactionID: TransactionID("t"), replyTo: MessageID("other"), delivery: .sending)
        let stored = try await fixture.store.append(new, to: fixture.room).message
        #expect(stored.sentAt == Fixtures.date)
        #expect(stored.delivery == .sending)
        #expect(stored.replyTo == MessageID("other"))
        await fixture.store.close()
        let again = try await ChatStore.open(in: fixture.url)
        #expect(try await again.messages(in: fixture.room, before: .max, limit: 1).messages == [stored])
    }

    @Test func repeatedTransactionReturnsTheCurrentMessage() async throws {
        let fixture = try await StoreFixture()
        let first = try await fixture.append(1)
        let edited = try await fixture.store.edit(
            first.id, in: fixture.room, to: Wording("edited"), by: Fixtures.own.id, at: Fixtures.date)
        let new = NewMessage(
            id: MessageID("new"), sender: Fixtures.own.id, text: "x", sentAt: Fixtures.date,
            transactionID: first.transactionID)
        let again = try await fixture.store.append(new, to: fixture.room, removingDraft: true)
        #expect(again == .init(message: try #require(edited), isNew: false))
    }

    @Test func countsUnreadMessagesOfOthers() async throws {
        let fixture = try await StoreFixture()
        try await fixture.append(1, by: Fixtures.other)
        try await fixture.append(2)
        let third = try await fixture.append(3, by: Fixtures.other)
        let fourth = try await fixture.append(4, by: Fixtures.other)
        #expect(try await fixture.summary()?.unreadCount == 3)
        _ = try await fixture.store.delete(fourth.id, in: fixture.room, by: Fixtures.other.id)
        #expect(try await fixture.summary()?.unreadCount == 2)
        #expect(try await fixture.store.delete(fourth.id, in: fixture.room, by: Fixtures.other.id) == nil)
        #expect(try await fixture.summary()?.unreadCount == 2)
        #expect(try await fixture.store.markRead(MessageID("message-1"), in: fixture.room))
        #expect(try await fixture.summary()?.unreadCount == 1)
        #expect(try await fixture.store.markRead(third.id, in: fixture.room))
        #expect(try await fixture.store.markRead(MessageID("message-1"), in: fixture.room) == false)
        #expect(try await fixture.summary()?.unreadCount == 0)
        _ = try await fixture.store.delete(third.id, in: fixture.room, by: Fixtures.other.id)
        #expect(try await fixture.summary()?.unreadCount == 0)
    }

    @Test func summaryFollowsTheNewestMessage() async throws {
        let fixture = try await StoreFixture()
        #expect(try await fixture.summary()?.lastActivity == Fixtures.date)
        let first = try await fixture.append(1, by: Fixtures.other)
        let second = try await fixture.append(2, text: String(repeating: "é", count: 300))
        #expect(try await fixture.summary()?.lastMessage?.text == String(repeating: "é", count: 200))
        #expect(try await fixture.summary()?.lastActivity == second.sentAt)
        _ = try await fixture.store.edit(
            second.id, in: fixture.room, to: Wording("edited"), by: Fixtures.own.id, at: Fixtures.date)
        #expect(try await fixture.summary()?.lastMessage?.text == "edited")
        _ = try await fixture.store.delete(second.id, in: fixture.room, by: Fixtures.own.id)
        let last = try await fixture.summary()?.lastMessage
        #expect(
            last
                == .init(
                    senderName: "Alex", isOwn: false, text: first.text, syntax: .markdown, sentAt: first.sentAt))
        #expect(try await fixture.summary()?.lastActivity == second.sentAt)
    }

    @Test func previewsAreBoundedInBytes() {
        let marks = String(repeating: "\u{0301}", count: 100_000)
        #expect(("a" + marks).preview.isEmpty)
        #expect(("abc" + marks).preview == "ab")
        #expect(String(repeating: "👩🏽‍🚀", count: 300).preview == String(repeating: "👩🏽‍🚀", count: 200))
        #expect("short".preview == "short")
    }

    @Test func onlyMembersCanSend() async throws {
        let fixture = try await StoreFixture()
        try await fixture.append(1, by: Fixtures.other)
        let members = try await fixture.store.removeMember(Fixtures.other.id, from: fixture.room)
        #expect(members.map(\.hasLeft) == [false, true])
        await #expect(throws: ChatError.notPermitted) { try await fixture.append(2, by: Fixtures.other) }
        await #expect(throws: ChatError.notFound) {
            try await fixture.store.removeMember(Fixtures.other.id, from: fixture.room)
        }
        #expect(try await fixture.summary()?.lastMessage?.senderName == "Alex")
        try await fixture.store.addMember(Fixtures.other, to: fixture.room)
        try await fixture.append(2, by: Fixtures.other)
        #expect(try await fixture.store.members(of: fixture.room) == [Fixtures.own, Fixtures.other])
    }

    @Test func removingARoomErasesAllItsData() async throws {
        let fixture = try await StoreFixture()
        try await fixture.append(1, text: "unmistakable text")
        _ = try await fixture.store.saveDraft(Fixtures.draft("draft"), in: fixture.room)
        try await fixture.store.set("value", for: "name", of: fixture.room)
        try await fixture.store.removeRoom(fixture.room)
        let left = try await fixture.store.read { db in
            try ["room", "member", "message", "revision", "reaction", "attachment", "roomSetting"].map { table in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)")
            }
        }
        #expect(left == [0, 0, 0, 0, 0, 0, 0])
        let drafts = try await fixture.store.readPending { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM draft")
        }
        #expect(drafts == 0)
        await fixture.store.close()
        let bytes = try Data(contentsOf: fixture.url.appendingPathComponent("chat.sqlite"))
        #expect(bytes.range(of: Data("unmistakable text".utf8)) == nil)
    }

    @Test func savingTheSameDraftWritesNothing() async throws {
        let fixture = try await StoreFixture()
        let draft = SavedDraft(data: Data([0, 255, 1]), preview: String(repeating: "p", count: 300))
        #expect(try await fixture.store.saveDraft(draft, in: fixture.room))
        #expect(try await fixture.store.saveDraft(draft, in: fixture.room) == false)
        let stored = try await fixture.store.draft(in: fixture.room)
        #expect(stored?.data == draft.data)
        #expect(stored?.preview.count == 200)
        #expect(try await fixture.store.saveDraft(nil, in: fixture.room))
        #expect(try await fixture.store.saveDraft(nil, in: fixture.room) == false)
    }

    @Test func draftWithoutTextHasNoPreview() async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.store.saveDraft(SavedDraft(data: Data([1]), preview: ""), in: fixture.room)
        #expect(try await fixture.summary()?.draftPreview == nil)
    }

    @Test func writesFailAtomicallyOnAFullDisk() async throws {
        let fixture = try await StoreFixture()
        let stored = try await fixture.append(1)
        _ = try await fixture.store.saveDraft(Fixtures.draft("kept"), in: fixture.room)
        let pages = try await fixture.store.write { db in
            try Int.fetchOne(db, sql: "PRAGMA max_page_count = 1") ?? 0
        }
        let new = NewMessage(
            id: MessageID("large"), sender: Fixtures.own.id, text: String(repeating: "x", count: 100_000),
            sentAt: Fixtures.date)
        await #expect(throws: ChatError.diskFull) {
            try await fixture.store.append(new, to: fixture.room, removingDraft: true)
        }
        #expect(try await fixture.store.messages(in: fixture.room, before: .max, limit: 5).messages == [stored])
        #expect(try await fixture.store.draft(in: fixture.room) == Fixtures.draft("kept"))
        _ = try await fixture.store.write { db in try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(pages + 100)") }
        #expect(try await fixture.store.append(new, to: fixture.room).isNew)
        #expect(try await fixture.store.integrityProblems() == [])
    }

    @Test func failedDraftSaveKeepsThePreviousDraft() async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.store.saveDraft(Fixtures.draft("kept"), in: fixture.room)
        _ = try await fixture.store.writePending { db in try Int.fetchOne(db, sql: "PRAGMA max_page_count = 1") }
        let large = SavedDraft(data: Data(count: 200_000), preview: "large")
        await #expect(throws: ChatError.diskFull) { try await fixture.store.saveDraft(large, in: fixture.room) }
        let request = OutboxRequest(
            id: TransactionID("t"), room: fixture.room,
            action: .send(WrittenMessage(String(repeating: "x", count: 200_000))), queuedAt: Fixtures.date)
        await #expect(throws: ChatError.diskFull) {
            try await fixture.store.commit(OutboxChange(put: [request], sentDraft: fixture.room))
        }
        #expect(try await fixture.store.draft(in: fixture.room) == Fixtures.draft("kept"))
        #expect(try await fixture.store.outboxRequests() == [])
    }

    @Test func accountsAreStoredAndRemoved() async throws {
        let store = try await StoreFixture().store
        var account = Account(
            id: "@robin:example.org", kind: "matrix", server: "https://example.org", device: "D", name: "Robin")
        try await store.saveAccount(account)
        account.device = "E"
        try await store.saveAccount(account)
        #expect(try await store.accounts() == [account])
        account.name = "Robin Hood"
        try await store.renameAccount(account.id, to: account.name)
        #expect(try await store.accounts() == [account])
        try await store.removeAccount(account.id)
        // Renaming a removed account does not restore it.
        try await store.renameAccount(account.id, to: "Robin")
        #expect(try await store.accounts() == [])
    }

    @Test func roomsOfAnOccasionAreCreatedOnce() async throws {
        let store = try await StoreFixture().store
        let rooms = [NewRoom(room: Fixtures.room("first"), members: [Fixtures.own], createdAt: Fixtures.date)]
        #expect(try await store.createRooms(rooms, once: "occasion"))
        try await store.removeRoom(RoomID("first"))
        #expect(try await store.createRooms(rooms, once: "occasion") == false)
        #expect(try await store.roomSummaries().count == 1)
    }

    @Test func pagesAndSummariesUseAnIndex() async throws {
        let fixture = try await StoreFixture()
        let plans = try await fixture.store.read { db in
            try [
                "SELECT * FROM message m WHERE m.key >= 1 AND m.key < 9 ORDER BY m.key DESC LIMIT 50",
                "SELECT key, text FROM message WHERE key BETWEEN 1 AND 9 AND isDeleted = 0 ORDER BY key DESC LIMIT 1",
                "SELECT 1 FROM message WHERE room = 1 AND id = 'a'",
                "SELECT * FROM reaction WHERE message BETWEEN 1 AND 9",
                "SELECT * FROM attachment WHERE message BETWEEN 1 AND 9",
            ].flatMap { try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + $0).map { $0["detail"] as String } }
        }
        for plan in plans { #expect(plan.hasPrefix("SEARCH") && plan.contains("USING"), "\(plan)") }
        #expect(plans.count == 5)
    }
}
