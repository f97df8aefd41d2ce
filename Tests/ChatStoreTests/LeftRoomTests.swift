import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

@Suite("Rooms that the user is no longer in", .timeLimit(.minutes(10))) struct LeftRoomTests: SyncTesting {
    let folder = TemporaryFolder()

    private func queue(_ text: String, in store: ChatStore) async throws {
        try await store.commit(
            OutboxChange(put: [
                OutboxRequest(
                    id: TransactionID(text), room: room, action: .send(WrittenMessage(text)), queuedAt: Fixtures.date)
            ]))
    }

    @Test("What is unsent in a room is told before a sync removes it, and waits for an observer")
    func unsentContent() async throws {
        let store = try await open()
        try await apply([event(1)], to: store)
        for text in ["one", "two"] { try await queue(text, in: store) }
        let draft = Fixtures.draft("draft")
        _ = try await store.saveDraft(draft, in: room)
        #expect(try await store.pendingCount(in: room) == PendingCount(messages: 2, drafts: 1))
        try await apply([], to: store) { $0.isLeft = true }
        #expect(try await store.outboxRequests().isEmpty)
        await store.close()
        var told: [UnsentContent] = []
        for await content in store.unsentOfLeftRooms() { told.append(content) }
        let messages = [WrittenMessage("one"), WrittenMessage("two")]
        #expect(told == [UnsentContent(room: room, messages: messages, draft: draft)])
    }

    @Test("Of a room without unsent content, nothing is told")
    func nothingUnsent() async throws {
        let store = try await open()
        try await apply([event(1)], to: store)
        #expect(try await store.pendingCount(in: room) == PendingCount())
        for _ in 0..<2 { try await apply([], to: store) { $0.isLeft = true } }
        await store.close()
        for await content in store.unsentOfLeftRooms() { Issue.record("told of \(content)") }
    }

    @Test("Who removed the user from a room is told once, by the names that the room had")
    func removal() async throws {
        let store = try await open()
        func leave(by name: String) async throws -> RoomRemoval? {
            let change = try await apply([], to: store) { batch in
                batch.isLeft = true
                batch.removal = ban(by: name, roomName: room.rawValue)
            }
            return change.removal
        }
        func enter() async throws {
            try await apply([event(1)], to: store) { batch in
                batch.members = [Member(id: ann, displayName: "Ann", kind: .person)]
            }
        }
        #expect(try await leave(by: "Ann") == nil, "the room is unknown")
        let expected = ban(by: "Ann", roomName: "Room")
        try await enter()
        #expect(try await leave(by: ann.rawValue) == expected)
        #expect(try await leave(by: ann.rawValue) == nil, "the room is gone")
        let renamed = ban(by: "Annie", roomName: "Room")
        try await enter()
        #expect(try await leave(by: "Annie") == renamed)
        try await enter()
        let change = try await apply([], to: store) { $0.isLeft = true }
        #expect(change.removal == nil)
        await store.close()
        var told: [RoomRemoval] = []
        for await removal in store.roomRemovals() { told.append(removal) }
        #expect(told == [expected, renamed])
    }

    private func ban(by name: String, roomName: String) -> RoomRemoval {
        RoomRemoval(room: room, roomName: roomName, kind: .banned, actor: ann, actorName: name, reason: "off topic")
    }

    // MARK: Long rooms

    private func messageCount(_ store: ChatStore) async throws -> Int? {
        try await store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM message") }
    }

    private func waitForRemovals(_ store: ChatStore) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !store.stagedRooms().isEmpty {
            try #require(ContinuousClock.now < end, "the history is still there")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Applies messages of which a removal takes several parts.
    private func applyLongHistory(to store: ChatStore) async throws {
        let silent = (1...100).map { TimelineEvent.silent(MessageID("$s\($0)")) }
        try await apply((1...StagedRooms.removedRows * 2).map { event($0) } + silent, to: store)
    }

    @Test("A long room is gone at once, and the user may join it again while its history is being removed")
    func longRoom() async throws {
        let (store, room) = (try await open(), room)
        try await applyLongHistory(to: store)
        // As a sync does it, but without the removal in the background.
        let staged: [RoomID] = try await store.write { db in
            let rooms = StagedRooms(db: db)
            try rooms.leave(RoomRecord.get(room, in: db))
            return try rooms.left
        }
        #expect(staged.count == 1)
        #expect(try await !store.hasRoom(room))
        #expect(try await store.roomSummaries().isEmpty)
        #expect(try await store.search(SearchQuery(text: "7")).messages.isEmpty)
        let hasRemoved: Bool = try await store.write { db in
            let rooms = StagedRooms(db: db)
            return try rooms.removeHistory(of: rooms.room(staged[0]))
        }
        #expect(hasRemoved)
        try await apply([event(1), event(7)], to: store)
        #expect(try await texts(store) == ["1", "7"])
        #expect(try await messageCount(store) == StagedRooms.removedRows + 2, "the rest of the history is there")
        try await store.removeStagedRoom(staged[0])
        #expect(try await texts(store) == ["1", "7"])
        #expect(try await store.search(SearchQuery(text: "7")).messages.count == 1)
        #expect(try await messageCount(store) == 2)
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("A sync removes the history of a long room in the background")
    func removalInTheBackground() async throws {
        let store = try await open()
        try await applyLongHistory(to: store)
        try await apply([], to: store) { $0.isLeft = true }
        #expect(try await !store.hasRoom(room))
        try await waitForRemovals(store)
        #expect(try await messageCount(store) == 0)
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("What an end of the program leaves of a room is removed after the next opening")
    func removalAfterARestart() async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store)
        let room = room
        try await store.write { db in
            try RoomTable(db: db).stage(RoomRecord.get(room, in: db), as: RoomID("left-1"))
        }
        await store.close()
        let again = try await open()
        #expect(try await !again.hasRoom(room))
        try await waitForRemovals(again)
        #expect(try await messageCount(again) == 0)
        #expect(try await again.integrityProblems() == [])
        await again.close()
    }

    @Test("What lists something of all rooms leaves out one whose history is being removed")
    func listsWithoutIt() async throws {
        let (store, room) = (try await open(), room)
        var sealed = message(2)
        sealed.content = Message.Content(sealed: .noKey)
        sealed.ciphertext = Ciphertext(of: sealed.id, reason: .noKey, session: "s", data: "{}")
        try await apply([event(1), .message(sealed)], gap: "p", to: store) { batch in
            batch.members = [Member(id: ann, displayName: "Ann", kind: .person)]
            batch.state = RoomState()
            batch.state?.encryption = .on
        }
        try await store.setUnsentReadMarker(MessageID("$1"), of: room)
        try await store.setMarkedUnread(true, in: room, isUnsent: true)
        try await store.setIgnoredUsers([ann])
        try await store.setIgnoredUsers([])
        func listed() async throws -> [Bool] {
            [
                try await store.encryptedRooms().isEmpty, try await store.unsentReadMarkers().isEmpty,
                try await store.unsentUnreadMarks().isEmpty, try await store.uncountedRooms(limit: 9).isEmpty,
                try await store.incompleteRooms().isEmpty, try await store.sealedSessions().isEmpty,
                try await store.newestSealedSessions(for: [.noKey], limit: 9).isEmpty,
                try await store.roomSummaries().isEmpty,
            ].map { !$0 }
        }
        #expect(try await listed() == Array(repeating: true, count: 8))
        try await store.write { db in
            try RoomTable(db: db).stage(RoomRecord.get(room, in: db), as: RoomID("left-1"))
        }
        #expect(try await listed() == Array(repeating: false, count: 8))
        await store.close()
    }
}
