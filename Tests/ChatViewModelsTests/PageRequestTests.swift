import ChatCore
import ChatTestSupport
import ComposerSessions
import Testing

@testable import ChatViewModels

/// When a view may request another page.
@MainActor @Suite(.timeLimit(.minutes(10))) struct PageRequestTests {
    private let clock = ManualClock()
    private let finished = Recorder<TimelineEdge>()
    private let request: PageRequest

    init() {
        request = PageRequest(time: Timekeeper(clock)) { [finished] in finished.record($0) }
    }

    @Test("A request that is loaded finishes at once, and only once")
    func loaded() {
        request.end(isLoaded: true)
        #expect(finished.values.isEmpty, "a jump has ended; no page was requested")
        request.begin(.older)
        request.end(isLoaded: true)
        request.end(isLoaded: true)
        #expect(finished.values == [.older])
    }

    @Test("A failed request finishes after a delay")
    func failed() async {
        request.begin(.newer)
        request.end(isLoaded: false)
        await clock.waitForSleepers()
        clock.advance(by: PageRequest.retryDelay - .milliseconds(1))
        #expect(clock.sleeperCount == 1 && finished.values.isEmpty)
        clock.advance(by: .milliseconds(1))
        await eventually { [finished] in finished.values == [.newer] }
    }

    @Test("A request made during the delay replaces the failed one")
    func replaced() async {
        request.begin(.newer)
        request.end(isLoaded: false)
        await clock.waitForSleepers()
        request.begin(.older)
        await waitUntilIdle()
        #expect(clock.sleeperCount == 0)
        request.end(isLoaded: true)
        #expect(finished.values == [.older])
    }

    /// Opens the messages 5 and 6.
    private func open(hasOlder: Bool) async -> (harness: TimelineHarness, finished: Recorder<TimelineEdge>) {
        let (harness, finished) = (TimelineHarness(pageSize: 2), Recorder<TimelineEdge>())
        await harness.open([.of(5), .of(6)], hasOlder: hasOlder)
        harness.timeline.subscribe { if case .finishedLoading(let edge) = $0 { finished.record(edge) } }
        return (harness, finished)
    }

    @Test("A timeline reports a page to its view, and after a delay that none has arrived")
    func timelines() async {
        let (harness, finished) = await open(hasOlder: true)
        harness.service.pages = { _, _ in TimelinePage(messages: [.of(3), .of(4)], hasOlder: true) }
        harness.timeline.send(.pages(.load(.older)))
        #expect(finished.values.isEmpty)
        await eventually { finished.values == [.older] }
        #expect(harness.positions == ["3", "4", "5", "6"])
        harness.service.before = { if case .page = $0 { throw ChatError.unreachable } }
        harness.timeline.send(.pages(.load(.older)))
        await eventually { harness.reported == [.failed(.unreachable)] }
        #expect(finished.values == [.older])
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: PageRequest.retryDelay)
        await eventually { finished.values == [.older, .older] }
    }

    @Test("A page that does not exist, or of a room that was left, finishes without a request")
    func nothingToLoad() async {
        let (harness, finished) = await open(hasOlder: false)
        harness.timeline.send(.pages(.load(.newer)))
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: PageRequest.retryDelay)
        await eventually { finished.values == [.newer] }
        await harness.publish(.closed)
        harness.timeline.send(.pages(.load(.older)))
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: PageRequest.retryDelay)
        await eventually { finished.values == [.newer, .older] }
        #expect(harness.service.calls.allSatisfy { if case .page = $0 { false } else { true } })
    }
}
