import ChatCore
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct RoomListFeedTests {
    private static func summary(_ name: String, active time: Int = 0, unread: Int = 0) -> RoomSummary {
        RoomSummary(
            room: Room(id: RoomID(name), name: name, kind: .group), lastMessage: nil,
            lastActivity: Date(timeIntervalSince1970: TimeInterval(time)), unreadCount: unread, draftPreview: nil)
    }

    /// Rooms that change between reads.
    private final class Rooms: Sendable {
        struct Unreadable: Error {}

        private struct State {
            var rooms = [RoomListFeedTests.summary("a")]
            var reads: [RoomScope] = []
            var fails = false
        }

        private let state = Mutex(State())

        var reads: Int { state.withLock { $0.reads.count } }
        /// The rooms of all reads.
        var selections: [RoomScope] { state.withLock { $0.reads } }
        func set(_ names: [String]) { set(names.map { RoomListFeedTests.summary($0) }) }
        func set(_ rooms: [RoomSummary]) { state.withLock { $0.rooms = rooms } }
        func setFails(_ fails: Bool) { state.withLock { $0.fails = fails } }

        func read(_ selection: RoomScope) throws -> [RoomSummary] {
            try state.withLock { state in
                state.reads.append(selection)
                if state.fails { throw Unreadable() }
                guard case .only(let ids) = selection else { return state.rooms }
                return state.rooms.filter { ids.contains($0.id) }
            }
        }
    }

    /// Returns a feed whose list has been read, with an observer that has received it.
    private func observed(_ rooms: Rooms) async -> (RoomListFeed, AsyncStream<[RoomSummary]>.AsyncIterator) {
        rooms.set(Self.rooms)
        let feed = RoomListFeed { try rooms.read($0) }
        var observer = feed.summaries().makeAsyncIterator()
        #expect(await observer.next() == Self.rooms)
        // An update is published without a read once none is in progress.
        while true {
            let reads = rooms.reads
            feed.update(Self.rooms[0].id, since: feed.revision) { _ in }
            for _ in 0..<20 { await Task.yield() }
            if rooms.reads == reads { return (feed, observer) }
        }
    }

    @Test func summariesAreValues() {
        let first = Self.summary("a", unread: 1)
        var copy = first
        #expect(copy == first)
        copy.unreadCount = 2
        #expect(first.unreadCount == 1 && copy != first)
        copy.unreadCount = 1
        #expect(copy == first, "equal contents are equal, whether or not copies share them")
    }

    @Test("An observer receives the list at once and after each change")
    func observersReceiveEachChange() async {
        let rooms = Rooms()
        let feed = RoomListFeed { try rooms.read($0) }
        var observer = feed.summaries().makeAsyncIterator()
        #expect(await observer.next()?.map(\.room.name) == ["a"])
        rooms.set(["a", "b"])
        feed.refresh()
        #expect(await observer.next()?.map(\.room.name) == ["a", "b"])
    }

    @Test("Without observers the feed reads nothing")
    func readsNothingWithoutObservers() async {
        let rooms = Rooms()
        let feed = RoomListFeed { try rooms.read($0) }
        for _ in 0..<10 { feed.refresh() }
        for _ in 0..<20 { await Task.yield() }
        #expect(rooms.reads == 0)
    }

    @Test("A failed read leaves the list as it was, and the next change reads again")
    func failedReadIsRetriedAtTheNextChange() async {
        let rooms = Rooms()
        let feed = RoomListFeed { try rooms.read($0) }
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
        let feed = RoomListFeed { try rooms.read($0) }
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

    private static let rooms = [summary("a", active: 9), summary("b", active: 5), summary("c", active: 5)]

    @Test(
        "Changed rooms alone are read, and listed by their activity",
        arguments: [
            // More messages at the same time, a newer one, an older one, gone, and new.
            (["a"], [summary("a", active: 9, unread: 2), rooms[1], rooms[2]]),
            (["c"], [summary("c", active: 10), rooms[0], rooms[1]]),
            (["a"], [rooms[1], rooms[2], summary("a", active: 1)]),
            (["b"], [rooms[0], rooms[2]]),
            (["d"], [rooms[0], summary("d", active: 7), rooms[1], rooms[2]]),
            (["a", "c", "d"], [summary("d", active: 11), summary("c", active: 10, unread: 1), rooms[1]]),
        ])
    func changedRoomsAreRead(changed: [String], expected: [RoomSummary]) async {
        let rooms = Rooms()
        var (feed, observer) = await observed(rooms)
        rooms.set(expected)
        feed.refresh(.only(Set(changed.map { RoomID($0) })))
        #expect(await observer.next() == expected)
        #expect(rooms.selections.last == .only(Set(changed.map { RoomID($0) })))
    }

    @Test("Rooms with the same last activity are read with all others, which tells their order")
    func orderOfEqualActivityIsRead() async {
        let rooms = Rooms()
        var (feed, observer) = await observed(rooms)
        let expected = [Self.rooms[1], Self.summary("a", active: 5), Self.rooms[2]]
        rooms.set(expected)
        feed.refresh(RoomID("a"))
        #expect(await observer.next() == expected)
        #expect(rooms.selections.suffix(2) == [.only([RoomID("a")]), .all])
    }

    @Test("Rooms that could not be read are read with the next change")
    func unreadRoomsAreReadLater() async {
        let rooms = Rooms()
        var (feed, observer) = await observed(rooms)
        rooms.setFails(true)
        let reads = rooms.reads
        feed.refresh(RoomID("a"))
        while rooms.reads == reads { await Task.yield() }
        for _ in 0..<20 { await Task.yield() }
        rooms.setFails(false)
        let expected = [
            Self.summary("a", active: 9, unread: 1), Self.summary("b", active: 5, unread: 1), Self.rooms[2],
        ]
        rooms.set(expected)
        feed.refresh(RoomID("b"))
        #expect(await observer.next() == expected)
        #expect(rooms.selections.last == .only([RoomID("a"), RoomID("b")]))
    }

    @Test("Finishing the feed ends all streams, including later ones")
    func finishEndsAllStreams() async {
        let feed = RoomListFeed { _ in [] }
        var early = feed.summaries().makeAsyncIterator()
        #expect(await early.next() == [])
        feed.finish()
        var late = feed.summaries().makeAsyncIterator()
        #expect(await early.next() == nil)
        #expect(await late.next() == nil)
    }
}
