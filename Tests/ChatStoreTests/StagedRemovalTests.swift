import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// The removal of a room whose history is deleted later.
@Suite(.timeLimit(.minutes(10))) struct StagedRemovalTests {
    @Test("The room is gone at once with what is unsent, and its identifier is free for another")
    func identifier() async throws {
        let fixture = try await StoreFixture()
        let (store, room) = (fixture.store, fixture.room)
        for number in 1...3 as ClosedRange<Int64> { try await fixture.append(number, text: "walrus") }
        _ = try await store.saveDraft(Fixtures.draft("draft"), in: room)
        let staged = try await store.stageRemoval(of: room)
        #expect(try await !store.hasRoom(room))
        await #expect(throws: ChatError.notFound) { try await store.messages(in: room, before: .max, limit: 1) }
        await #expect(throws: ChatError.notFound) { try await store.stageRemoval(of: room) }
        #expect(try await store.roomSummaries().isEmpty)
        #expect(try await store.rooms(with: Fixtures.own.id).isEmpty)
        #expect(try await store.renameMember(Fixtures.own.id, to: "Other").isEmpty)
        #expect(try await store.search(SearchQuery(text: "walrus", matching: .terms)).messages.isEmpty)
        #expect(try await store.pendingCount() == PendingCount())
        #expect(try await store.stagedRooms() == [staged])

        try await store.createRoom(
            NewRoom(room: Fixtures.room(), members: [Fixtures.own], createdAt: Fixtures.date))
        try await fixture.append(9, text: "New")
        try await store.removeStagedRoom(staged)
        #expect(try await store.stagedRooms().isEmpty)
        #expect(try await store.messages(in: room, before: .max, limit: 9).messages.map(\.text) == ["New"])
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("A long history is removed in parts, between which others can write")
    func parts() async throws {
        let fixture = try await StoreFixture()
        let (store, room) = (fixture.store, fixture.room)
        let messages = (1...StagedRooms.removedRows + 1).map { number in
            NewMessage(id: MessageID("\(number)"), sender: Fixtures.own.id, text: "walrus", sentAt: Fixtures.date)
        }
        _ = try await store.ingest(messages, into: room)
        let staged = try await store.stageRemoval(of: room)
        func count() async throws -> Int? {
            try await store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM message") }
        }
        let hasRemoved: Bool = try await store.write { db in
            let rooms = StagedRooms(db: db)
            return try rooms.removeHistory(of: rooms.room(staged))
        }
        #expect(hasRemoved)
        #expect(try await count() == 1)
        try await store.removeStagedRoom(staged)
        #expect(try await count() == 0)
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("A room that a sync has left stays invisible and is removed even if a repair has lost its setting")
    func withoutSetting() async throws {
        let fixture = try await StoreFixture()
        let (store, room) = (fixture.store, fixture.room)
        let left = RoomID("left-1")
        try await fixture.append(1, text: "walrus")
        let other = Fixtures.room("leftover")
        try await store.createRoom(NewRoom(room: other, members: [Fixtures.own], createdAt: Fixtures.date))
        try await store.write { db in
            let record = try RoomRecord.get(room, in: db)
            try RoomTable(db: db).stage(record, as: left)
            try RoomSetting(StagedRooms.setting).set(nil, of: record, in: db)
            // A repair adds those who sent something.
            try MemberTable(db: db).put(Fixtures.own, into: record)
        }
        #expect(Set(try await store.roomSummaries().map(\.id)) == [left, other.id])
        let staged = try await store.write { db in try StagedRooms(db: db).stageLeft() }
        #expect(staged == [left])
        #expect(try await store.stagedRooms() == [left])
        #expect(try await store.roomSummaries().map(\.id) == [other.id])
        #expect(try await store.rooms(with: Fixtures.own.id) == [other.id])
        try await store.write { db in
            try RoomSetting(StagedRooms.setting).set(nil, of: RoomRecord.get(left, in: db), in: db)
        }
        await store.close()

        let again = try await ChatStore.open(in: fixture.url)
        #expect(try await again.roomSummaries().map(\.id) == [other.id])
        let end = ContinuousClock.now + .seconds(60)
        while try await again.hasRoom(left) {
            try #require(ContinuousClock.now < end, "the room is still there")
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await again.search(SearchQuery(text: "walrus", matching: .terms)).messages.isEmpty)
        #expect(try await again.integrityProblems() == [])
        await again.close()
    }
}
