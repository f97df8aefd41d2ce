import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

/// Operations on individual messages, and how their failures are reported.
@MainActor @Suite(.timeLimit(.minutes(10))) struct MessageOperationsTests {
    private let service = FakeChatService()
    private let operations: MessageOperations
    private let outputs = Recorder<MessageOperations.Output>()

    init() {
        operations = MessageOperations(roomID: RoomID("room"), service: service) { [outputs] in outputs.record($0) }
    }

    @Test("Messages are retried and deleted in their order")
    func operationsKeepTheirOrder() async {
        operations.retry([2, 1].map { TransactionID("t\($0)") })
        await eventually { [service] in service.calls.count == 2 }
        operations.delete([MessageID("b"), MessageID("a")])
        await eventually { [service] in service.calls.count == 4 }
        #expect(
            service.calls == [
                .retry(TransactionID("t2")), .retry(TransactionID("t1")), .delete(MessageID("b")),
                .delete(MessageID("a")),
            ])
    }

    @Test("The first failure ends a series and is reported")
    func reportsFailures() async {
        service.before = { _ in throw ChatError.notPermitted }
        operations.delete([MessageID("a"), MessageID("b")])
        await eventually { [outputs] in outputs.values == [.failed(.notPermitted)] }
        #expect(service.calls == [.delete(MessageID("a"))])
    }

    @Test("A reaction that another device gave or took back meanwhile stays as it is")
    func setReactions() async {
        let harness = TimelineHarness()
        harness.service.capabilities = [.reactions]
        let id = MessageID("m1")
        var message = Message.of(1)
        message.reactions = [Reaction(text: "👍", senders: [Fixtures.own.id])]
        await harness.open([message])
        func set(_ text: String, _ isGiven: Bool) {
            harness.timeline.send(.message(id, .setReaction(text, isGiven: isGiven)))
        }
        set("👍", true)
        set("🎉", false)
        set("🎉", true)
        await eventually { harness.service.calls.contains(.react("🎉", id, isAdded: true)) }
        set("👍", false)
        await eventually { harness.service.calls.contains(.react("👍", id, isAdded: false)) }
        #expect(harness.service.calls.filter { if case .react = $0 { true } else { false } }.count == 2)
    }

    @Test("A deleted message has no history")
    func deletedMessageHasNoHistory() async {
        service.known = { _ in .of(1, isDeleted: true) }
        operations.fetchHistory(of: MessageID("m1"))
        await eventually { [outputs] in !outputs.values.isEmpty }
        guard case .failed? = outputs.values.first else {
            Issue.record("\(outputs.values)")
            return
        }
    }
}
