import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// The range of messages in memory, and how its changes are reported.
@MainActor @Suite(.timeLimit(.minutes(5))) struct TimelinePagerTests {
    private let service = FakeChatService()
    private let pager: TimelinePager
    private let outputs = Recorder<TimelinePager.Output>()

    init() {
        pager = TimelinePager(
            roomID: RoomID("room"), service: service, bodies: MessageBodies(), pageSize: 4, reach: 6
        ) { [outputs] in outputs.record($0) }
    }

    private func page(_ positions: ClosedRange<Int64>, older: Bool = true, newer: Bool = false) -> TimelinePage {
        TimelinePage(messages: positions.map { .of($0) }, hasOlder: older, hasNewer: newer)
    }

    private var positions: [Int64] { pager.loaded.messages.map(\.position) }

    @Test("A page is requested only once the room is open, and one request is in flight at a time")
    func requestsOnePageAtATime() async {
        pager.load(.older)
        #expect(service.calls.isEmpty)
        _ = await pager.open(page(9...12), around: nil)
        service.pages = { [self] _, _ in page(5...8) }
        pager.load(.older)
        pager.load(.older)
        #expect(pager.range.loading == .page(.older))
        await eventually { [pager] in pager.range.loading == nil }
        #expect(service.calls == [.page(before: 9)] && positions == Array(5...12))
        #expect(
            outputs.values == [
                .replaced, .added((5...8).map { .of($0) }, at: [5, 6, 7, 8]), .finished(isLoaded: true),
            ])
    }

    @Test("Updates that arrive while a page loads are applied on top of it")
    func appliesMissedUpdates() async {
        _ = await pager.open(page(9...12), around: nil)
        let gate = Gate()
        service.before = { _ in await gate.pass() }
        service.pages = { [self] _, _ in page(5...8) }
        pager.load(.older)
        await eventually { gate.waiting == 1 }
        pager.apply(.changed([.of(6, text: "newer")]))
        pager.apply(.removed([MessageID("m7")]))
        gate.open()
        await eventually { [pager] in pager.range.loading == nil }
        #expect(positions == [5, 6, 8, 9, 10, 11, 12] && pager.loaded.message(MessageID("m6"))?.text == "newer")
        #expect(outputs.values.contains(.removed([MessageID("m7")], loaded: [.of(7)], at: [7])))
    }

    @Test("A jump replaces the range and is reported before the updates that arrived meanwhile")
    func reportsJumps() async {
        _ = await pager.open(page(9...12), around: nil)
        service.pagesAround = { [self] _, _ in page(1...4, older: false, newer: true) }
        let jump = TimelineJump(destination: .message(MessageID("m2")))
        pager.load(jump, unreadLineAfter: nil)
        #expect(pager.range.loading == .jump(jump.destination) && pager.range.isBeingLeft)
        await eventually { [pager] in pager.range.loading == nil }
        #expect(outputs.values == [.replaced, .replaced, .jumped(jump), .finished(isLoaded: true)])
        #expect(positions == Array(1...4) && pager.range.isDetached && !pager.range.hasOlder)
    }

    @Test("Without an unread line a jump to the first unread message does nothing")
    func firstUnreadRequiresAnUnreadLine() async {
        _ = await pager.open(page(9...12), around: nil)
        pager.load(TimelineJump(destination: .firstUnread), unreadLineAfter: nil)
        #expect(pager.range.loading == nil && service.calls.isEmpty)
    }

    @Test("Reopening after a gap postpones the jump in flight and drops its page")
    func postponesTheJumpInFlight() async {
        _ = await pager.open(page(9...12), around: nil)
        let gate = Gate()
        service.before = { _ in await gate.pass() }
        service.pagesAround = { [self] _, _ in page(1...4, newer: true) }
        let jump = TimelineJump(destination: .message(MessageID("m2")))
        pager.load(jump, unreadLineAfter: nil)
        await eventually { gate.waiting == 1 }
        _ = await pager.open(page(20...22), around: nil)
        #expect(pager.dequeueJump() == jump && pager.dequeueJump() == nil)
        gate.open()
        await waitUntilIdle()
        #expect(positions == [20, 21, 22] && pager.range.loading == nil)
    }

    @Test("A page requested while the room reopens does not join the new range")
    func pagesOfAPreviousRangeAreDropped() async {
        _ = await pager.open(page(9...12), around: nil)
        let gate = Gate()
        service.before = { if case .pageAround = $0 { await gate.pass() } }
        service.pages = { [self] _, _ in page(5...8) }
        service.pagesAround = { [self] _, _ in page(30...32, newer: true) }
        let opening = Task { [pager] in await pager.open(page(40...42), around: MessageID("m31")) }
        await eventually { gate.waiting == 1 }
        pager.load(.older)
        gate.open()
        #expect(await opening.value)
        await waitUntilIdle()
        #expect(positions == [30, 31, 32])
    }

    @Test("The room opens at its newest page if the target message is missing")
    func missingMessageOpensTheNewestPage() async {
        #expect(await !pager.open(page(9...12), around: MessageID("gone")))
        #expect(positions == Array(9...12) && pager.range.isLoaded)
    }

    @Test("Messages far from the anchor are dropped, and the others stay")
    func distantMessagesAreDropped() async {
        _ = await pager.open(page(1...12, older: false), around: nil)
        pager.setAnchor(MessageID("m2"))
        pager.apply(.changed([.of(13)]))
        #expect(positions == Array(1...7) && pager.range.isDetached)
        #expect(outputs.values.last == .dropped((8...13).map { .of($0) }))
    }

    @Test("A cleared range is empty, and later messages are shown")
    func clearedRangeIsEmpty() async {
        _ = await pager.open(page(1...3), around: nil)
        pager.clear()
        #expect(pager.range.isEmpty && !pager.range.hasOlder)
        pager.apply(.changed([.of(4)]))
        #expect(positions == [4] && !pager.range.isEmpty)
    }
}
