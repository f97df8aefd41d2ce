import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// Requests for pages and ranges, one at a time.
@MainActor @Suite(.timeLimit(.minutes(10))) struct TimelinePagerTests {
    private let service = FakeChatService()
    private let pager: TimelinePager
    private let outputs = Recorder<TimelinePager.Output>()
    private let jump = TimelineJump(destination: .message(MessageID("m2")))

    init() {
        pager = TimelinePager(
            roomID: RoomID("room"), service: service, bodies: MessageBodies(), pageSize: 4
        ) { [outputs] in outputs.record($0) }
    }

    private func page(_ positions: ClosedRange<Int64>, older: Bool = true, newer: Bool = false) -> TimelinePage {
        TimelinePage(messages: positions.map { .of($0) }, hasOlder: older, hasNewer: newer)
    }

    @Test("One request is in flight at a time")
    func requestsOnePageAtATime() async {
        let loaded = LoadedMessages(page(9...12))
        service.pages = { [self] _, _ in page(5...8) }
        pager.load(.older, of: loaded)
        pager.load(.older, of: loaded)
        #expect(pager.loading == .page(.older))
        await eventually { [outputs] in outputs.values.contains(.finished(isLoaded: true)) }
        #expect(service.calls == [.page(before: 9)])
        #expect(outputs.values == [.began, .ended, .page(page(5...8), at: .older), .finished(isLoaded: true)])
    }

    @Test("A page at the other end can be requested once the request in flight has finished")
    func remembersTheOtherEnd() async {
        let loaded = LoadedMessages(page(9...12, newer: true))
        service.pages = { [self] _, _ in page(5...8) }
        pager.load(.older, of: loaded)
        pager.load(.newer, of: loaded)
        await eventually { [outputs] in outputs.values.contains(.finished(isLoaded: true)) }
        #expect(outputs.values.last == .free(.newer) && service.calls == [.page(before: 9)])
    }

    @Test("An end that is loaded is not requested")
    func loadedEndsAreNotRequested() {
        pager.load(.newer, of: LoadedMessages(page(9...12)))
        #expect(outputs.values.isEmpty && pager.loading == nil)
    }

    @Test("A jump requests the range around its destination")
    func requestsJumps() async {
        service.pagesAround = { [self] _, _ in page(1...4, older: false, newer: true) }
        pager.load(jump, unreadLineAfter: nil)
        #expect(pager.loading == .jump(jump.destination))
        await eventually { [outputs] in outputs.values.contains(.finished(isLoaded: true)) }
        let range = page(1...4, older: false, newer: true)
        #expect(outputs.values == [.began, .ended, .range(range, for: jump), .finished(isLoaded: true)])
    }

    @Test("Without an unread line a jump to the first unread message does nothing")
    func firstUnreadRequiresAnUnreadLine() {
        pager.load(TimelineJump(destination: .firstUnread), unreadLineAfter: nil)
        #expect(pager.loading == nil && service.calls.isEmpty)
    }

    @Test("A postponed jump is returned once, and its page is dropped")
    func postponesTheJumpInFlight() async {
        let gate = Gate()
        service.before = { _ in await gate.pass() }
        service.pagesAround = { [self] _, _ in page(1...4, newer: true) }
        pager.load(jump, unreadLineAfter: nil)
        await eventually { gate.waiting == 1 }
        pager.postponeJump()
        #expect(pager.dequeueJump() == jump && pager.dequeueJump() == nil)
        gate.open()
        await waitUntilIdle()
        #expect(outputs.values == [.began, .ended])
    }

    @Test("A jump that is dropped ends, and frees the page that waited for it")
    func dropsTheJumpInFlight() async {
        let gate = Gate()
        service.before = { _ in await gate.pass() }
        service.pagesAround = { [self] _, _ in page(1...4, newer: true) }
        pager.load(jump, unreadLineAfter: nil)
        pager.load(.older, of: LoadedMessages(page(9...12)))
        await eventually { gate.waiting == 1 }
        pager.dropJump()
        #expect(pager.loading == nil)
        gate.open()
        await waitUntilIdle()
        #expect(outputs.values == [.began, .ended, .finished(isLoaded: false), .free(.older)])
        pager.postponeJump()
        #expect(pager.dequeueJump() == nil, "it is not performed when the room opens again")
        pager.postpone(jump)
        pager.dropJump()
        #expect(pager.dequeueJump() == nil, "nor is one that waited for the room to open")
    }

    @Test("A page in flight is not dropped with a jump")
    func keepsThePageInFlight() async {
        service.pages = { [self] _, _ in page(5...8) }
        pager.load(.older, of: LoadedMessages(page(9...12)))
        pager.dropJump()
        #expect(pager.loading == .page(.older))
        await eventually { [outputs] in outputs.values.last == .finished(isLoaded: true) }
        #expect(outputs.values.contains(.page(page(5...8), at: .older)))
    }

    @Test("A room opens at its newest page if the target message is missing")
    func missingMessageOpensTheNewestPage() async {
        let opening = await pager.openingPage(page(9...12), around: MessageID("gone"))
        #expect(opening.page == page(9...12) && !opening.isFound)
    }
}
