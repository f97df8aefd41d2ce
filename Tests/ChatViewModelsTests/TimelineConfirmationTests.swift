import ChatCore
import ChatTestSupport
import ChatViewModels
import Testing

/// The confirmations before messages are deleted or discarded.
@MainActor @Suite(.timeLimit(.minutes(10))) struct TimelineConfirmationTests {
    private let harness = TimelineHarness()
    private var timeline: TimelineViewModel { harness.timeline }

    private func confirmation() -> TimelineConfirmation? {
        harness.effects.compactMap { if case .confirm(let confirmation) = $0 { confirmation } else { nil } }.last
    }

    private func failed(_ position: Int64) -> Message {
        var message = Message.of(position, by: Fixtures.own, delivery: .failed)
        message.transactionID = TransactionID("t\(position)")
        return message
    }

    @Test("A deletion names whom it affects and requires confirmation")
    func deletionRequiresConfirmation() async throws {
        await harness.open([.of(1, by: Fixtures.own), .of(2)])
        timeline.send(.message(MessageID("m1"), .requestDeletion))
        let asked = try #require(confirmation())
        #expect(asked.heading(.untranslated) == "Delete Message?" && asked.button(.untranslated) == "_Delete")
        #expect(asked.body(.untranslated).contains("for everyone in this room"))
        #expect(harness.service.calls.isEmpty)
        timeline.send(asked.action)
        await eventually { [service = harness.service] in service.calls == [.delete(MessageID("m1"))] }
        await harness.publish(.members([Fixtures.own]))
        timeline.send(.message(MessageID("m1"), .requestDeletion))
        #expect(confirmation()?.body(.untranslated).contains("the only member of this room") == true)
    }

    @Test("A menu that was opened at a local echo deletes and copies the event that has replaced it")
    func localEchoMayBeReplacedMeanwhile() async throws {
        var echo = Message.of(9, by: Fixtures.own, delivery: .sending)
        echo.transactionID = TransactionID("t")
        var event = Message.of(2, by: Fixtures.own)
        event.transactionID = TransactionID("t")
        await harness.open([.of(1)])
        await harness.publish(.changed([echo]))
        await harness.publish(.removed([echo.id]))
        timeline.send(.message(echo.id, .requestDeletion))
        #expect(confirmation() == nil, "nothing to delete yet")
        await harness.publish(.changed([event, .of(3, by: Fixtures.own)]))
        timeline.send(.message(echo.id, .copy))
        #expect(harness.effects.contains { if case .copy = $0 { true } else { false } })
        timeline.send(.message(echo.id, .requestDeletion))
        timeline.send(try #require(confirmation()).action)
        await eventually { [service = harness.service] in service.calls == [.delete(event.id)] }
    }

    @Test("Another user's message cannot be deleted")
    func onlyOwnMessagesAreDeleted() async {
        await harness.open([.of(1)])
        timeline.send(.message(MessageID("m1"), .requestDeletion))
        #expect(confirmation() == nil)
    }

    @Test(
        "A failed message is discarded, whether deleted or dismissed",
        arguments: [
            MessageAction.requestDeletion, .requestDiscard,
        ])
    func failedMessageIsDiscarded(_ action: MessageAction) async throws {
        await harness.open([failed(1)])
        timeline.send(.message(MessageID("m1"), action))
        let asked = try #require(confirmation())
        #expect(asked.heading(.untranslated) == "Discard Message?" && asked.button(.untranslated) == "_Discard")
        #expect(asked.body(.untranslated) == "This message was not sent and will be lost.")
        timeline.send(asked.action)
        await eventually { [service = harness.service] in service.calls == [.delete(MessageID("m1"))] }
    }

    @Test(
        "An upload is canceled without confirmation",
        arguments: [
            MessageAction.requestDeletion, .requestDiscard,
        ])
    func uploadIsCanceledWithoutConfirmation(_ action: MessageAction) async {
        var message = Message.of(1, by: Fixtures.own, delivery: .sending)
        message.upload = 0.5
        await harness.open([message])
        timeline.send(.message(MessageID("m1"), action))
        await eventually { [service = harness.service] in service.calls == [.delete(MessageID("m1"))] }
        #expect(confirmation() == nil)
    }

    @Test("The confirmation for discarding all failed messages has their number")
    func allFailedMessagesAreDiscarded() async throws {
        await harness.open([.of(1)])
        timeline.send(.failed(.requestDiscard))
        #expect(confirmation() == nil)
        await harness.publish(.changed([failed(2), failed(3)]))
        timeline.send(.failed(.requestDiscard))
        let asked = try #require(confirmation())
        #expect(asked.heading(.untranslated) == "Discard 2 Messages?")
        timeline.send(asked.action)
        await eventually { [service = harness.service] in service.calls.count == 2 }
    }

    @Test("Of the messages that the confirmation counted, those still unsent are discarded, and no others")
    func onlyCountedMessagesAreDiscarded() async throws {
        await harness.open([failed(1), failed(2)])
        timeline.send(.failed(.requestDiscard))
        let asked = try #require(confirmation())
        #expect(asked.heading(.untranslated) == "Discard 2 Messages?")
        await harness.publish(.changed([.of(2, by: Fixtures.own), failed(3)]))
        timeline.send(asked.action)
        await eventually { [service = harness.service] in service.calls.contains(.delete(MessageID("m1"))) }
        await waitUntilIdle()
        #expect(harness.service.calls == [.delete(MessageID("m1"))])
    }
}
