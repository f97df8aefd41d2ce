import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// Which messages lose their files by an update, also those that are not loaded.
@MainActor @Suite(.timeLimit(.minutes(10))) struct DeletedMessagesTests {
    private let harness = TimelineHarness()
    private let sent = Self.audio(10, .sent)
    private let failed = Self.audio(11, .failed, TransactionID("failed"))
    private let echo = Self.audio(12, .sending, TransactionID("echo"))

    private static func audio(
        _ position: Int64, _ delivery: Message.Delivery, _ transaction: TransactionID? = nil
    ) -> Message {
        var message = Message.of(position, by: transaction == nil ? Fixtures.other : Fixtures.own, delivery: delivery)
        message.attachments = [MediaReference(uri: "s", name: "s.wav", type: "audio/x-wav")]
        message.transactionID = transaction
        return message
    }

    private func deleted(_ message: Message) -> Message {
        var deleted = message
        deleted.delete()
        return deleted
    }

    /// What plays of these messages ends.
    private var ended: Set<String> {
        harness.effects.reduce(into: []) { ended, effect in
            guard case .filesDeleted(let messages) = effect else { return }
            ended.formUnion(messages.ids.map(\.rawValue))
            ended.formUnion(messages.transactions.map(\.rawValue))
        }
    }

    @Test("Of loaded messages those with files are, and no local echo that is being sent")
    func loadedMessages() async {
        await harness.open([.of(9), sent, failed, echo])
        await harness.publish(.removed([9, 10, 11, 12].map { MessageID("m\($0)") }))
        #expect(ended == ["m10", "m11", "failed"])
    }

    @Test("A deletion counts once")
    func deletedMessages() async {
        await harness.open([.of(9), sent, failed, echo])
        await harness.publish(.changed([.of(9, isDeleted: true), deleted(sent), failed]))
        #expect(ended == ["m10"])
        harness.forgetEffects()
        await harness.publish(.changed([deleted(sent)]))
        #expect(ended.isEmpty)
    }

    @Test("Messages that are not loaded are, with their transactions")
    func messagesOutOfRange() async {
        await harness.open([sent], hasOlder: true)
        let own = Self.audio(3, .sent, TransactionID("own"))
        await harness.publish(.changed([Self.audio(4, .failed, TransactionID("old")), own]))
        #expect(harness.timeline.rows.message(own.id) == nil && ended.isEmpty)
        await harness.publish(.changed([deleted(own)]))
        #expect(ended == ["m3", "own"])
        harness.forgetEffects()
        await harness.publish(.removed([MessageID("m2"), MessageID("m4")]))
        #expect(ended == ["m2", "m4", "old"])
    }

    @Test("Messages deleted in a gap of the synchronization are")
    func messagesOfAnotherOpening() async {
        await harness.open([.of(9), sent])
        await harness.open([.of(9), deleted(sent)])
        #expect(ended == ["m10"])
    }
}
