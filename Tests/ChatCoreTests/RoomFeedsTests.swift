import ChatCore
import Testing

/// The observers of rooms, and the state that is retained for later observers.
@Suite(.timeLimit(.minutes(10))) struct RoomFeedsTests {
    private let feeds = RoomFeeds<[MemberID]>(isEmpty: { $0.isEmpty })
    private let room = RoomID("room")
    private let ann = MemberID("ann")

    private func observe() -> AsyncStream<TimelineUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self)
        feeds.add(continuation, to: room, remembering: []) { [.typing($0)] }
        return stream
    }

    private func remember(_ members: [MemberID]) {
        feeds.change(room, remembering: []) {
            $0 = members
            return .typing(members)
        }
    }

    @Test("An observer receives an opening from the retained state, and then each update")
    func observersBeginWithTheMemory() async {
        var first = observe().makeAsyncIterator()
        remember([ann])
        feeds.publish(.changed([]), in: room)
        #expect(await first.next() == .typing([]))
        #expect(await first.next() == .typing([ann]))
        #expect(await first.next() == .changed([]))
        var second = observe().makeAsyncIterator()
        #expect(await second.next() == .typing([ann]))
    }

    @Test("A room without observers is dropped once its state is empty")
    func roomsAreForgotten() async {
        remember([ann])
        #expect(feeds.memory(of: room) == [ann] && !feeds.hasObservers(of: room))
        remember([])
        #expect(feeds.memory(of: room) == nil)
        let stream = observe()
        #expect(feeds.memory(of: room) == [])
        let task = Task { for await _ in stream {} }
        task.cancel()
        await task.value
        while feeds.memory(of: room) != nil { await Task.yield() }
    }

    @Test("A change to a dropped room is ignored unless it provides an initial state")
    func forgottenRoomsAreLeftAlone() {
        feeds.change(room) { _ in
            Issue.record("there is nothing to change")
            return nil
        }
        #expect(feeds.memory(of: room) == nil)
    }

    @Test("A room ends with a last update, all rooms without one; later streams end at once")
    func streamsEnd() async {
        var ended = observe().makeAsyncIterator()
        feeds.end(room, with: .closed)
        #expect(await ended.next() == .typing([]))
        #expect(await ended.next() == .closed)
        #expect(await ended.next() == nil)
        var other = observe().makeAsyncIterator()
        feeds.finish()
        #expect(await other.next() == .typing([]))
        #expect(await other.next() == nil)
        var late = observe().makeAsyncIterator()
        #expect(await late.next() == nil)
        #expect(feeds.isFinished)
    }
}
