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

    /// Marks visible messages as read after they were visible for some time.
    private func dwell(
        on loaded: LoadedMessages, in range: TimelineRange, _ progress: inout ReadingProgress
    ) -> MessageID? {
        guard let due = progress.look(at: loaded, range, at: .seconds(100)) else { return nil }
        #expect(progress.moveReadMarker(in: loaded, range, at: due - .milliseconds(1)) == nil, "not yet")
        return progress.moveReadMarker(in: loaded, range, at: due)
    }

    private static func id(_ position: Int64) -> MessageID { MessageID("m\(position)") }

    @Test("Messages are marked as read only while they are in view of the active window")
    func readingRequiresAnActiveWindow() {
        var progress = opened(readUpTo: 1)
        #expect(dwell(on: loaded(1...3), in: range, &progress) == nil)
        progress.setAttended(true)
        #expect(dwell(on: loaded(1...3), in: range, &progress) == nil, "the view has not scrolled yet")
        let hasMoved = progress.scroll(to: nil, in: range)
        #expect(hasMoved)
        #expect(dwell(on: loaded(1...3), in: range, &progress) == MessageID("m3"))
        #expect(dwell(on: loaded(1...3), in: range, &progress) == nil, "once")
        #expect(dwell(on: loaded(1...2), in: range, &progress) == nil, "never back")
    }

    @Test("Leaving the window or the message before it counts as read restarts the delay")
    func glancesDoNotCount() {
        var progress = opened(readUpTo: 1)
        progress.setAttended(true)
        _ = progress.scroll(to: nil, in: range)
        #expect(progress.look(at: loaded(1...3), range, at: .zero) == ReadingProgress.dwell)
        progress.setAttended(false)
        #expect(progress.look(at: loaded(1...3), range, at: .milliseconds(900)) == nil)
        #expect(progress.moveReadMarker(in: loaded(1...3), range, at: .seconds(9)) == nil)
        progress.setAttended(true)
        #expect(progress.look(at: loaded(1...3), range, at: .seconds(10)) == .seconds(11))
        _ = progress.scroll(to: ScrollPosition(message: Self.id(2), offset: 0), in: range)
        #expect(progress.look(at: loaded(1...3), range, at: .milliseconds(10_500)) == .milliseconds(11_500))
        _ = progress.scroll(to: ScrollPosition(message: Self.id(2), offset: -3), in: range)
        #expect(
            progress.look(at: loaded(1...3), range, at: .seconds(11)) == .milliseconds(11_500),
            "a few pixels on, it is the same message")
        #expect(progress.moveReadMarker(in: loaded(1...3), range, at: .milliseconds(11_500)) == Self.id(2))
    }

    @Test("A stream of new messages does not postpone marking visible ones as read")
    func busyRoomsAreRead() {
        var progress = opened(readUpTo: 1)
        progress.setAttended(true)
        _ = progress.scroll(to: nil, in: range)
        #expect(progress.look(at: loaded(1...3), range, at: .zero) == .seconds(1))
        #expect(progress.look(at: loaded(1...4), range, at: .milliseconds(900)) == .seconds(1))
        #expect(progress.moveReadMarker(in: loaded(1...4), range, at: .seconds(1)) == Self.id(3))
        #expect(dwell(on: loaded(1...4), in: range, &progress) == Self.id(4))
    }

    @Test("Once the user has sent a message, those before it are read at once")
    func answeredMessagesAreRead() {
        var progress = opened(readUpTo: 1)
        progress.setAttended(true)
        _ = progress.scroll(to: nil, in: range)
        #expect(progress.look(at: loaded(1...3), range, at: .zero) == .seconds(1))
        let own = Message.of(4, by: Fixtures.own)
        let answered = LoadedMessages(TimelinePage(messages: (1...3).map { .of($0) } + [own], hasOlder: false))
        #expect(progress.look(at: answered, range, at: .milliseconds(400)) == .milliseconds(400))
        #expect(progress.moveReadMarker(in: answered, range, at: .milliseconds(400)) == own.id)
        #expect(progress.look(at: answered, range, at: .milliseconds(500)) == nil)
    }

    @Test("An event of the user's own, such as another name, is no answer")
    func ownEventsAreNoAnswers() {
        var progress = opened(readUpTo: 1)
        progress.setAttended(true)
        _ = progress.scroll(to: nil, in: range)
        let own = Message.of(4, by: Fixtures.own, RoomEvent(.renamed, before: "Rob", after: "Robin"))
        let changed = LoadedMessages(TimelinePage(messages: (1...3).map { .of($0) } + [own], hasOlder: false))
        #expect(progress.look(at: changed, range, at: .zero) == .seconds(1))
    }

    @Test(
        "If the newest message is not in view, the lowest fully visible one is marked as read",
        arguments: [(2, 0, 2), (2, -20, 2), (2, 1, nil), (1, 0, nil)] as [(Int64, Double, Int64?)])
    func readsWhileScrolledUp(lowest: Int64, offset: Double, read: Int64?) {
        var progress = opened(readUpTo: 1)
        progress.setAttended(true)
        _ = progress.scroll(to: ScrollPosition(message: Self.id(lowest), offset: offset), in: range)
        #expect(dwell(on: loaded(1...3), in: range, &progress) == read.map(Self.id))
    }

    @Test("In a detached range, messages are marked as read only if it starts with read ones")
    func readsOnFromTheMarkerAlone() {
        var detached = range
        detached.isDetached = true
        var progress = ReadingProgress()
        let newest = TimelinePage(messages: (7...9).map { .of($0) }, hasOlder: true)
        progress.open(newest, fullyReadMarker: Self.id(2), ownUserID: Fixtures.own.id)
        progress.setAttended(true)
        _ = progress.scroll(to: ScrollPosition(message: Self.id(5), offset: 0), in: detached)
        #expect(dwell(on: loaded(4...6), in: detached, &progress) == nil, "3 was never seen")
        #expect(dwell(on: loaded(1...6), in: detached, &progress) == Self.id(5))
        _ = progress.scroll(to: ScrollPosition(message: Self.id(1), offset: 0), in: detached)
        #expect(dwell(on: loaded(1...6), in: detached, &progress) == nil, "never back")
    }

    @Test("The end of a detached range does not count as a scroll position")
    func ignoresTheEndOfADetachedRange() {
        var detached = range
        detached.isDetached = true
        var progress = opened(readUpTo: nil)
        progress.setAttended(true)
        let hasReachedEnd = progress.scroll(to: nil, in: detached)
        #expect(!hasReachedEnd)
        let hasMoved = progress.scroll(to: ScrollPosition(message: MessageID("m1"), offset: 0), in: detached)
        #expect(hasMoved)
        #expect(dwell(on: loaded(1...3), in: detached, &progress) == nil)
    }

    @Test(
        "The unread line follows the marker if others wrote after it",
        arguments: [(1, true), (3, false)] as [(Int64, Bool)])
    func placesTheUnreadLine(readUpTo: Int64, hasLine: Bool) {
        #expect(opened(readUpTo: readUpTo).unreadLineAfter == (hasLine ? MessageID("m\(readUpTo)") : nil))
    }

    @Test("The unread line moves after the messages read before others arrived unattended, and stays there")
    func unreadLineFollowsAttention() {
        var progress = opened(readUpTo: 3)
        progress.setAttended(true)
        let movesWhileAttended = progress.moveUnreadLine()
        #expect(!movesWhileAttended)
        _ = progress.scroll(to: nil, in: range)
        #expect(dwell(on: loaded(1...4), in: range, &progress) == Self.id(4))
        progress.setAttended(false)
        let moves = progress.moveUnreadLine()
        #expect(moves && progress.unreadLineAfter == Self.id(4))
        let movesAgain = progress.moveUnreadLine()
        #expect(!movesAgain, "for the next message it is there already")
    }

    @Test("Each message is announced once")
    func messagesAreAnnouncedOnce() {
        var progress = opened(readUpTo: nil)
        #expect(progress.arrivals(among: [.of(2), .of(4), .of(5)]).map(\.position) == [4, 5])
        #expect(progress.arrivals(among: [.of(4), .of(6)]).map(\.position) == [6])
    }
}
