import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

/// The read marker, the unread line and arrivals.
@Suite struct ReadingProgressTests {
    private let range: TimelineRange = {
        var range = TimelineRange()
        range.isLoaded = true
        return range
    }()

    private func loaded(_ positions: ClosedRange<Int64>) -> LoadedMessages {
        LoadedMessages(TimelinePage(messages: positions.map { .of($0) }, hasOlder: false))
    }

    private func opened(readUpTo: Int64?) -> ReadingProgress {
        var progress = ReadingProgress()
        let page = TimelinePage(messages: (1...3).map { .of($0) }, hasOlder: false)
        progress.open(page, fullyReadMarker: readUpTo.map { MessageID("m\($0)") }, ownUserID: Fixtures.own.id)
        return progress
    }

    @Test("Messages are marked as read only while they are in view of the active window")
    func readingRequiresAnActiveWindow() {
        var progress = opened(readUpTo: 1)
        #expect(progress.moveReadMarker(in: loaded(1...3), range) == nil)
        progress.setAttended(true)
        #expect(progress.moveReadMarker(in: loaded(1...3), range) == nil, "the view has not scrolled yet")
        let hasMoved = progress.scroll(to: nil, in: range)
        #expect(hasMoved)
        #expect(progress.moveReadMarker(in: loaded(1...3), range) == MessageID("m3"))
        #expect(progress.moveReadMarker(in: loaded(1...3), range) == nil, "once")
        #expect(progress.moveReadMarker(in: loaded(1...2), range) == nil, "never back")
    }

    @Test("The end of a detached range is no position")
    func ignoresTheEndOfADetachedRange() {
        var detached = range
        detached.isDetached = true
        var progress = opened(readUpTo: nil)
        progress.setAttended(true)
        let hasReachedEnd = progress.scroll(to: nil, in: detached)
        #expect(!hasReachedEnd)
        let hasMoved = progress.scroll(to: ScrollPosition(message: MessageID("m1"), offset: 0), in: detached)
        #expect(hasMoved)
        #expect(progress.moveReadMarker(in: loaded(1...3), detached) == nil)
    }

    @Test(
        "The unread line follows the marker if others wrote after it",
        arguments: [(1, true), (3, false)] as [(Int64, Bool)])
    func placesTheUnreadLine(readUpTo: Int64, hasLine: Bool) {
        #expect(opened(readUpTo: readUpTo).unreadLineAfter == (hasLine ? MessageID("m\(readUpTo)") : nil))
    }

    @Test("Each message is announced once")
    func messagesAreAnnouncedOnce() {
        var progress = opened(readUpTo: nil)
        #expect(progress.arrivals(among: [.of(2), .of(4), .of(5)]).map(\.position) == [4, 5])
        #expect(progress.arrivals(among: [.of(4), .of(6)]).map(\.position) == [6])
    }
}
