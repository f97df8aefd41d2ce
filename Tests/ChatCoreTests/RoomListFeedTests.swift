import ChatCore
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct RoomListFeedTests {
    private static func summary(_ name: String) -> RoomSummary {
        RoomSummary(
            room: Room(id: RoomID(name), name: name, kind: .group), lastMessage: nil,
            lastActivity: Date(timeIntervalSince1970: 0), unreadCount: 0, draftPreview: nil)
    }

    /// Rooms that change between reads.
    private final class Rooms: Sendable {
        struct Unreadable: Error {}

        private let state = Mutex((names: ["a"], reads: 0, fails: false))

        var reads: Int { state.withLock { $0.reads } }
        func set(_ names: [String]) { state.withLock { $0.names = names } }
        func setFails(_ fails: Bool) { state.withLock { $0.fails = fails } }

        func read() throws -> [RoomSummary] {
            try state.withLock { state in
                state.reads += 1
                if state.fails { throw Unreadable() }
                return state.names.map(RoomListFeedTests.summary)
            }
        }
    }

    @Test("An observer receives the list at once and after each change")
    func observersReceiveEachChange() async {
        let rooms = Rooms()
        let feed = RoomListFeed { try rooms.read() }
        var observer = feed.summaries().makeAsyncIterator()
        #expect(await observer.next()?.map(\.room.name) == ["a"])
        rooms.set(["a", "b"])
        feed.refresh()
        #expect(await observer.next()?.map(\.room.name) == ["a", "b"])
    }

    @Test("Without observers the feed reads nothing")
    func readsNothingWithoutObservers() async {
        let rooms = Rooms()
        let feed = RoomListFeed { try rooms.read() }
        for _ in 0..<10 { feed.refresh() }
        for _ in 0..<20 { await Task.yield() }
        #expect(rooms.reads == 0)
    }

    @Test("A failed read leaves the list as it was, and the next change reads again")
    func failedReadIsRetriedAtTheNextChange() async {
        let rooms = Rooms()
        let feed = RoomListFeed { try rooms.read() }
        var observer = feed.summaries().makeAsyncIterator()
        #expect(await observer.next()?.count == 1)
        rooms.setFails(true)
        feed.refresh()
        while rooms.reads < 2 { await Task.yield() }
        rooms.setFails(false)
        rooms.set(["b"])
        // The failed read may still be running: changes meanwhile are read by the next refresh.
        repeat { feed.refresh() } while await feed.summaries().first { _ in true }?.first?.room.name != "b"
        #expect(await observer.next()?.map(\.room.name) == ["b"])
    }

    @Test("A change of one room is published without a read, unless another change came between")
    func changeOfOneRoomNeedsNoRead() async {
        let rooms = Rooms()
        rooms.set(["a", "b"])
        let feed = RoomListFeed { try rooms.read() }
        var observer = feed.summaries().makeAsyncIterator()
        #expect(await observer.next()?.count == 2)
        // A read still runs when its list is published: retry until no read overlaps the update.
        var revision = feed.revision
        while true {
            let reads = rooms.reads
            revision = feed.revision
            feed.update(RoomID("b"), since: revision) { $0.draftPreview = "Hel" }
            let list = await observer.next()
            if rooms.reads == reads, list?.map(\.draftPreview) == [nil, "Hel"] { break }
        }
        let reads = rooms.reads
        feed.update(RoomID("b"), since: revision) { $0.draftPreview = "Hello" }
        #expect(await observer.next()?.map(\.draftPreview) == [nil, "Hello"])
        #expect(rooms.reads == reads)

        rooms.set(["a", "b", "c"])
        feed.refresh()
        feed.update(RoomID("b"), since: revision) { $0.draftPreview = "stale" }
        #expect(await observer.next()?.map(\.draftPreview) == [nil, nil, nil])
    }

    @Test("Finishing the feed ends all streams, including later ones")
    func finishEndsAllStreams() async {
        let feed = RoomListFeed { [] }
        var early = feed.summaries().makeAsyncIterator()
        #expect(await early.next() == [])
        feed.finish()
        var late = feed.summaries().makeAsyncIterator()
        #expect(await early.next() == nil)
        #expect(await late.next() == nil)
    }
}
