import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Rooms that the user has marked as unread.
@Suite(.timeLimit(.minutes(10))) struct MarkedUnreadTests: SyncTesting {
    let folder = TemporaryFolder()

    private func isMarked(_ store: ChatStore) async throws -> Bool? {
        try await store.roomSummaries().first?.isMarkedUnread
    }

    @Test("A room stays marked until the mark is removed, also after a restart")
    func markIsStored() async throws {
        var store = try await open()
        try await apply([event(1)], to: store)
        #expect(try await isMarked(store) == false)
        try await store.setMarkedUnread(true, in: room, isUnsent: false)
        await store.close()
        store = try await open()
        #expect(try await isMarked(store) == true)
        #expect(try await store.unsentUnreadMarks().isEmpty)
        #expect(try await store.removeUnreadMark(of: room, isUnsent: false))
        #expect(try await !store.removeUnreadMark(of: room, isUnsent: false), "it is removed already")
        #expect(try await isMarked(store) == false)
        await #expect(throws: ChatError.notFound) {
            try await store.setMarkedUnread(true, in: RoomID("!none"), isUnsent: false)
        }
        await store.close()
    }

    @Test("Unsent marks of rooms whose identifiers differ only in how they write a letter are those of two rooms")
    func marksOfCanonicallyEqualRooms() async throws {
        let store = try await open()
        for id in ["!caf\u{E9}:a", "!cafe\u{301}:a"] {
            let room = RoomID(id)
            _ = try await store.apply(SyncBatch(rooms: [RoomBatch(id: room, createdAt: Fixtures.date)]))
            try await store.setMarkedUnread(true, in: room, isUnsent: true)
            try await store.setUnsentReadMarker(MessageID("$1"), of: room)
        }
        #expect(try await store.unsentUnreadMarks().count == 2)
        #expect(try await store.unsentReadMarkers().count == 2)
        await store.close()
    }

    @Test("An unsent mark takes precedence over a sync's")
    func unsentMarkIsLater() async throws {
        let store = try await open()
        try await apply([event(1)], to: store) { $0.isMarkedUnread = true }
        #expect(try await isMarked(store) == true)
        #expect(try await store.removeUnreadMark(of: room, isUnsent: true))
        #expect(try await store.unsentUnreadMarks() == [room: false])
        try await apply([], to: store) { $0.isMarkedUnread = true }
        #expect(try await isMarked(store) == false)
        try await store.noteSentUnreadMark(true, of: room)
        #expect(try await store.unsentUnreadMarks() == [room: false], "another one was sent")
        try await store.noteSentUnreadMark(false, of: room)
        #expect(try await store.unsentUnreadMarks().isEmpty)
        try await apply([], to: store) { $0.isMarkedUnread = true }
        #expect(try await isMarked(store) == true)
        await store.close()
    }

    @Test("Reading on another device removes the mark, unless it was set afterwards")
    func readingRemovesTheMark() async throws {
        let store = try await open()
        try await apply([event(1), event(2), event(3)], to: store) { $0.isMarkedUnread = true }
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$2")] }
        #expect(try await isMarked(store) == false)
        try await apply([], to: store) {
            $0.fullyReadMarkers = [MessageID("$3")]
            $0.isMarkedUnread = true
        }
        #expect(try await isMarked(store) == true)
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$1")] }
        #expect(try await isMarked(store) == true, "that was read before")
        await store.close()
    }

    @Test("A read marker that was waiting for missing history does not remove a later mark")
    func waitingMarker() async throws {
        let store = try await open()
        try await apply([event(9)], gap: "p", to: store) {
            $0.fullyReadMarkers = [MessageID("$5")]
            $0.isMarkedUnread = true
        }
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(4), event(5), event(6)], next: nil)
        #expect(try await store.snapshot(of: room, limit: 10)?.fullyReadMarker == MessageID("$5"))
        #expect(try await isMarked(store) == true)
        await store.close()
    }

    @Test("Reading here is recorded as unsent, with the removed mark, as far as it changes anything")
    func readingHereIsUnsent() async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store) { $0.isMarkedUnread = true }
        await #expect(throws: ChatError.notFound) {
            _ = try await store.markReadUnsent(MessageID("$none"), in: room)
        }
        #expect(try await isMarked(store) == true)
        let first = try await store.markReadUnsent(MessageID("$2"), in: room)
        #expect(first.hasMoved && first.wasMarked)
        #expect(try await store.unsentReadMarkers() == [room: MessageID("$2")])
        #expect(try await store.unsentReadMarker(of: room) == MessageID("$2"))
        #expect(try await store.unsentReadMarker(of: RoomID("!none")) == nil)
        #expect(try await store.unsentUnreadMarks() == [room: false])
        let second = try await store.markReadUnsent(MessageID("$1"), in: room)
        #expect(!second.hasMoved && !second.wasMarked)
        #expect(try await store.unsentReadMarkers() == [room: MessageID("$2")])
        await store.close()
    }

    @Test("A read marker is unsent until a sync reports it, or a later one of another device", arguments: [2, 3])
    func reportedMarker(reported: Int) async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store)
        _ = try await store.markReadUnsent(MessageID("$2"), in: room)
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$1")] }
        #expect(try await store.unsentReadMarkers() == [room: MessageID("$2")])
        try await apply([event(3)], to: store)
        #expect(try await store.unsentReadMarkers() == [room: MessageID("$2")])
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$\(reported)")] }
        #expect(try await store.unsentReadMarkers().isEmpty)
        await store.close()
    }

    @Test("The newest message of a room is found")
    func newestMessage() async throws {
        let store = try await open()
        try await apply([], to: store)
        #expect(try await store.newestMessage(in: room) == nil)
        try await apply([event(1), event(2)], to: store)
        #expect(try await store.newestMessage(in: room) == MessageID("$2"))
        await store.close()
    }
}
