import Testing

@testable import ChatViewModels

/// What the bars around the timeline show.
@MainActor struct TimelineBarsTests {
    @Test("Failed messages have a bar from two on: a single one has its own buttons")
    func retryBar() {
        var state = TimelineViewModel.State()
        for (count, showsBar) in [(0, false), (1, false), (2, true)] {
            state.failedCount = count
            #expect(state.showsRetryBar == showsBar)
        }
    }
}
