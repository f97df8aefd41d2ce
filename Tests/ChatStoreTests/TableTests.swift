import ChatCore
import ChatTestSupport
import Composer
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// Each table in isolation, in an in-memory database.
@Suite struct TableTests {
    private func history<T>(_ body: (Database) throws -> T) throws -> T { try run(Schema.history, body) }

    private func pending<T>(_ body: (Database) throws -> T) throws -> T { try run(Schema.pending, body) }

    private func run<T>(_ schema: Schema, _ body: (Database) throws -> T) throws -> T {
        let queue = try DatabaseQueue()
        try schema.migrate(queue)
        return try queue.write(body)
    }

    /// Adds the fixtures' room with its two members.
    private func insertRoom(_ db: Database) throws -> RoomRecord {
        try RoomTable(db: db).insert(
            NewRoom(room: Fixtures.room(), members: [Fixtures.own, Fixtures.other], createdAt: Fixtures.date))
        return try RoomRecord.get(Fixtures.room().id, in: db)
    }

    @Test("Accounts stay in the order in which they were added, however they change")
    func accounts() throws {
        try pending { db in
            let table = AccountTable(db: db)
            let (ann, bo) = (
                Account(id: "@ann:example.org", kind: "matrix", server: "example.org", device: "A", name: "Ann"),
                Account(id: "@bo:example.org", kind: "matrix", server: "example.org", device: "B", name: "Bo")
            )
            try table.save(ann)
            try table.save(bo)
            try table.rename(ann.id, to: "Ann Smith")
            try table.rename("@nobody:example.org", to: "Nobody")
            #expect(try table.all.map(\.name) == ["Ann Smith", "Bo"])
            try table.save(ann)
            #expect(try table.all == [ann, bo])
            try table.remove(ann.id)
            #expect(try table.all == [bo])
        }
    }

    @Test("A one-time setting is recorded once")
    func settings() throws {
        try history { db in
            let table = SettingTable(db: db)
            #expect(try table.value(of: "name") == nil)
            try table.set(["name": "one", "other": "1"])
            try table.set("two", for: "name")
            #expect(try table.value(of: "name") == "two" && table.value(of: "other") == "1")
            #expect(try table.setOnce("first") && !table.setOnce("first"))
        }
    }

    @Test("A member who left stays stored, and leaving twice is an error")
    func formerMembersAreRetained() throws {
        try history { db in
            let room = try insertRoom(db)
            let table = MemberTable(db: db)
            #expect(try table.members(of: room) == [Fixtures.own, Fixtures.other])
            try table.markLeft(Fixtures.other.id, from: room)
            #expect(try table.member(Fixtures.other.id, of: room)?.hasLeft == true)
            #expect(try table.rooms(with: Fixtures.other.id) == [])
            #expect(throws: ChatError.notFound) { try table.markLeft(Fixtures.other.id, from: room) }
            #expect(throws: ChatError.notFound) { try table.markLeft(MemberID("nobody"), from: room) }
            try table.put(Fixtures.other, into: room)
            #expect(try table.rooms(with: Fixtures.other.id) == [room.room.id])
        }
    }

    @Test("A new name is stored in each room that has another, and only those rooms are returned")
    func memberNames() throws {
        try history { db in
            let room = try insertRoom(db)
            let table = MemberTable(db: db)
            #expect(try table.rename(Fixtures.other.id, to: Fixtures.other.displayName) == [])
            #expect(try table.rename(Fixtures.other.id, to: "Zoe Zander") == [room.room.id])
            #expect(try table.members(matching: SearchTerms("zan")) == [Fixtures.other.id])
            #expect(try table.ownIDs == [Fixtures.own.id])
        }
    }

    @Test("Staged rooms are not listed until they become ordinary rooms")
    func stagedRooms() throws {
        try history { db in
            let table = RoomTable(db: db)
            let room = try insertRoom(db)
            try RoomSetting(StagedRooms.setting).set("1", of: room, in: db)
            let staged = StagedRooms(db: db)
            #expect(try table.summaries(of: .all).isEmpty)
            #expect(try table.summaries(of: .only([room.room.id])).isEmpty)
            #expect(try staged.all == [room.room.id] && staged.keys == [room.key])
            #expect(try staged.room(room.room.id).key == room.key)
            try staged.show(room, named: "Shown")
            for scope in [RoomScope.all, .only([room.room.id, RoomID("none")])] {
                #expect(try table.summaries(of: scope).map(\.summary.room.name) == ["Shown"])
            }
            #expect(try table.summaries(of: .only([RoomID("none")])).isEmpty)
            #expect(throws: ChatError.notPermitted) { try staged.room(room.room.id) }
            #expect(throws: ChatError.notFound) { try staged.room(RoomID("none")) }
        }
    }

    @Test("A room's state is written if it differs from what is stored, be it by the normal form of a name")
    func roomState() throws {
        try history { db in
            let room = try insertRoom(db)
            var state = RoomState()
            state.encryption = .on
            state.heroes = [Fixtures.other.id]
            state.powerLevels = "{\"users\":{\"@\u{E9}:b\":100}}"
            state.creation = RoomState.Creation(creator: Fixtures.own.id, at: Fixtures.date, privileged: [])
            try state.store(of: room, in: db)
            #expect(try RoomState.find(of: room, in: db) == state)
            let before = db.totalChangesCount
            try state.store(of: room, in: db)
            #expect(db.totalChangesCount == before)
            let levels = "{\"users\":{\"@e\u{301}:b\":100}}"
            state.powerLevels = levels
            try state.store(of: room, in: db)
            #expect(db.totalChangesCount == before + 1)
            let stored = try #require(try RoomState.find(of: room, in: db).powerLevels)
            #expect(stored.utf8.elementsEqual(levels.utf8))
        }
    }

    @Test("A room is removed with all its rows")
    func removedRoomLosesAllItsRows() throws {
        try history { db in
            let room = try insertRoom(db)
            try ScrollPositionTable(db: db).set(ScrollPosition(message: MessageID("m"), offset: 3), in: room)
            try RoomTable(db: db).remove(room)
            for table in ["room", "member", "readingPlace"] {
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") == 0)
            }
        }
    }

    @Test("A scroll position that is not a number is discarded")
    func scrollPositions() throws {
        try history { db in
            let room = try insertRoom(db)
            let table = ScrollPositionTable(db: db)
            let position = ScrollPosition(message: MessageID("m"), offset: -1.5)
            try table.set(position, in: room)
            #expect(try table.position(in: room) == position)
            try table.set(ScrollPosition(message: MessageID("m"), offset: .nan), in: room)
            #expect(try table.position(in: room) == nil)
        }
    }

    @Test("A draft that changed since it was read is not removed")
    func drafts() throws {
        try pending { db in
            let table = DraftTable(db: db)
            let room = RoomID("room")
            try table.set(SavedDraft(data: Data("1".utf8), preview: "one"), of: room)
            let read = try #require(try table.row(of: room))
            try table.set(SavedDraft(data: Data("2".utf8), preview: "two"), of: room)
            try table.remove(read, of: room)
            #expect(try table.row(of: room)?.draft.preview == "two")
            #expect(try table.tokens == [table.previews(of: .all)[room]?.token])
            let previews = try table.previews(of: .only([room, RoomID("none")]))
            #expect(previews.mapValues(\.preview) == [room: "two"])
            #expect(try table.previews(of: .only([RoomID("none")])).isEmpty)
            try table.remove(of: room)
            #expect(try table.row(of: room) == nil)
        }
    }

    @Test("Requests are returned in the order in which they were queued, by room")
    func outbox() throws {
        try pending { db in
            let table = OutboxTable(db: db)
            let requests = (1...3).map { number in
                OutboxRequest(
                    id: TransactionID("\(number)"), room: RoomID(number == 2 ? "other" : "room"),
                    action: .send(WrittenMessage("text \(number)")), queuedAt: Fixtures.date)
            }
            for request in requests { try table.put(request) }
            var changed = requests[0]
            changed.action = .send(WrittenMessage("changed"))
            try table.put(changed)
            #expect(try table.requests == [changed, requests[1], requests[2]])
            try table.remove(OutboxChange.Key(room: RoomID("room"), id: requests[2].id))
            try table.removeAll(of: RoomID("other"))
            #expect(try table.requests == [changed])
        }
    }

    @Test("That a request was attempted is stored, and never forgotten")
    func attempts() throws {
        try pending { db in
            let table = OutboxTable(db: db)
            var request = OutboxRequest(
                id: TransactionID("1"), room: RoomID("room"), action: .send(WrittenMessage("text")),
                queuedAt: Fixtures.date)
            for (wasAttempted, expected) in [(false, false), (false, false), (true, true), (false, true)] {
                request.wasAttempted = wasAttempted
                try table.put(request)
                #expect(try table.requests.map(\.wasAttempted) == [expected])
            }
        }
    }

    @Test("A request that cannot be read is never overwritten")
    func unreadableRequests() throws {
        try pending { db in
            try db.execute(
                sql: "INSERT INTO outbox (id, room, queuedAt, action) VALUES ('1', 'room', 0, x'00')")
            let table = OutboxTable(db: db)
            let read = try #require(try table.requests.first)
            #expect(read.action == .unreadable && read.failure == OutboxAction.unreadableReason)
            try table.put(read)
            #expect(try Data.fetchOne(db, sql: "SELECT action FROM outbox") == Data([0]))
        }
    }

    @Test("Files that several addresses share count once")
    func media() throws {
        try history { db in
            var table = MediaTable(db: db)
            let digests = ["a", "b", "c"].map { MediaDigest(of: Data($0.utf8)) }
            func entry(_ uri: String, _ digest: MediaDigest, _ seconds: Double) -> MediaEntry {
                MediaEntry(uri: uri, digest: digest, bytes: 10, usedAt: Fixtures.date.addingTimeInterval(seconds))
            }
            #expect(try table.put(entry("1", digests[0], 3)) == nil)
            #expect(try table.put(entry("2", digests[0], 1)) == nil)
            #expect(try table.put(entry("3", digests[1], 2)) == nil)
            #expect(try table.totalBytes == 20 && table.growth == 20)
            #expect(try table.oldest(limit: 2).map(\.uri) == ["2", "3"])
            #expect(try table.entries(unusedSince: Fixtures.date.addingTimeInterval(2)).map(\.uri) == ["2"])
            try table.noteUses(["2": Fixtures.date.addingTimeInterval(9)])
            #expect(try table.oldest(limit: 1).map(\.uri) == ["3"])
            #expect(try table.unknown(among: Set(digests)) == [digests[2]])
            #expect(try table.put(entry("3", digests[2], 4)) == entry("3", digests[1], 2))
            #expect(try table.put(entry("3", digests[2], 5)) == entry("3", digests[2], 4))
            #expect(try table.totalBytes == 20 && table.growth == 20)
            try table.remove(["1", "none"])
            #expect(try table.totalBytes == 20 && table.growth == 20)
            try table.remove(["2"])
            #expect(try table.totalBytes == 10 && table.growth == 10 && table.entry(of: "1") == nil)
        }
    }
}
