import Testing

@testable import ChatViewModels

/// The bars around the timeline.
@MainActor struct TimelineBarsTests {
    @Test("Two or more failed messages have a bar: a single one has its own buttons")
    func retryBar() {
        var state = TimelineViewModel.State()
        for (count, showsBar) in [(0, false), (1, false), (2, true)] {
            state.failedCount = count
            #expect(state.showsRetryBar == showsBar)
        }
    }
}
