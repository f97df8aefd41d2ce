import ChatCore
import Testing

@testable import LocalBackend

@Suite(.timeLimit(.minutes(10))) struct TimelineFeedsTests {
    private let feeds = TimelineFeeds()
    private let room = RoomID("room")
    private let opening = TimelineUpdate.opened(
        TimelinePage(messages: [], hasOlder: false, hasNewer: false), members: [], fullyReadMarker: nil)

    private func observe() -> AsyncStream<TimelineUpdate>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self)
        feeds.add(continuation, to: room, opening: opening)
        return stream.makeAsyncIterator()
    }

    @Test("A later observer receives the typing users right after the opening")
    func laterObserversSeeWhoIsTyping() async {
        feeds.setTyping([MemberID("guide")], in: room)
        var updates = observe()
        #expect(await updates.next() == opening)
        #expect(await updates.next() == .typing([MemberID("guide")]))
    }

    @Test("Typing users are published only when they change")
    func typingIsPublishedOnce() async {
        var updates = observe()
        for _ in 0..<3 { feeds.setTyping([MemberID("guide")], in: room) }
        for _ in 0..<3 { feeds.setTyping([], in: room) }
        feeds.publish(.changed([]), in: room)
        #expect(await updates.next() == opening)
        #expect(await updates.next() == .typing([MemberID("guide")]))
        #expect(await updates.next() == .typing([]))
        #expect(await updates.next() == .changed([]))
    }

    @Test("An observer that ends its stream is removed")
    func endedStreamsAreRemoved() async {
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self)
        feeds.add(continuation, to: room, opening: opening)
        #expect(feeds.hasObservers(of: room) && !feeds.hasObservers(of: RoomID("other")))
        let task = Task { for await _ in stream {} }
        task.cancel()
        await task.value
        while feeds.hasObservers(of: room) { await Task.yield() }
    }

    @Test("An observer may end its stream during an update")
    func streamsCanEndDuringAnUpdate() async {
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<2_000 { _ = observe() }
                }
            }
            group.addTask {
                for _ in 0..<2_000 {
                    feeds.publish(.changed([]), in: room)
                    await Task.yield()
                }
            }
        }
        while feeds.hasObservers(of: room) { await Task.yield() }
    }

    @Test("Closing a room ends its streams only")
    func closingARoomEndsItsStreams() async {
        var updates = observe()
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self)
        feeds.add(continuation, to: RoomID("other"), opening: opening)
        feeds.close(room)
        #expect(await updates.next() == opening)
        #expect(await updates.next() == .closed)
        #expect(await updates.next() == nil)
        #expect(feeds.hasObservers(of: RoomID("other")))
        _ = stream
    }

    @Test("Finishing the feeds ends all streams, including later ones")
    func finishEndsAllStreams() async {
        var early = observe()
        feeds.finish()
        var late = observe()
        #expect(await early.next() == opening)
        #expect(await early.next() == nil)
        #expect(await late.next() == nil)
    }
}
