import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

/// Actions on all failed messages at once.
@MainActor @Suite(.timeLimit(.minutes(10))) struct UnsentMessagesTests {
    private let harness = TimelineHarness()

    private func message(_ position: Int64, _ delivery: Message.Delivery = .failed, isDeleted: Bool = false) -> Message
    {
        var message = Message.of(position, by: Fixtures.own, isDeleted: isDeleted, delivery: delivery)
        message.transactionID = TransactionID("t\(position)")
        return message
    }

    private func calls() -> [FakeChatService.Call] {
        harness.service.calls.filter {
            switch $0 {
            case .retry, .delete: true
            default: false
            }
        }
    }

    @Test func failedMessagesAreCounted() async {
        await harness.open([.of(1), message(2), message(3, .sending)])
        #expect(harness.state.failedCount == 1)
        await harness.publish(.changed([message(3), message(4)]))
        #expect(harness.state.failedCount == 3)
        await harness.publish(.changed([message(2, .sending), message(3, isDeleted: true)]))
        #expect(harness.state.failedCount == 1)
        await harness.publish(.removed([MessageID("m4")]))
        #expect(harness.state.failedCount == 0)
        harness.timeline.send(.failed(.retryAll))
        harness.timeline.send(.failed(.discard([MessageID("m2"), MessageID("m3"), MessageID("m4")])))
        await harness.waitForUpdates()
        #expect(calls().isEmpty)
    }

    @Test func allFailedMessagesAreRetriedInOrder() async {
        await harness.open([message(7), message(2), message(5)])
        harness.timeline.send(.failed(.retryAll))
        await eventually { calls().count == 3 }
        #expect(calls() == [2, 5, 7].map { .retry(TransactionID("t\($0)")) })
    }

    @Test func allFailedMessagesAreDiscarded() async {
        await harness.open([message(7), message(2), .of(8, by: Fixtures.own)])
        harness.timeline.send(.failed(.discard([MessageID("m7"), MessageID("m8"), MessageID("m2")])))
        await eventually { calls().count == 2 }
        #expect(calls() == [.delete(MessageID("m2")), .delete(MessageID("m7"))])
    }
}
