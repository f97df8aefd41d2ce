import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

/// Why a message was not sent, as its row tells it.
@MainActor @Suite(.timeLimit(.minutes(10))) struct SendFailureTests {
    private let harness = TimelineHarness()
    private let texts = MessageText(.untranslated, time: { _ in "12:00" }, fullDate: { _ in "a date" })

    private func explanation(_ item: MessageItem) -> String? {
        item.rejectedItem.flatMap { texts.failure($0, because: item.shownFailure).explanation }
    }

    @Test("A message that a changed identity holds back says so, and one that is retried no longer does")
    func heldMessage() async throws {
        var held = Message.of(1, by: Fixtures.own, delivery: .failed)
        held.transactionID = TransactionID("t")
        held.failure = .changedIdentity
        await harness.open([held])
        var item = try #require(harness.messages.first)
        #expect(
            explanation(item)
                == "The identity of someone you verified has changed. Verify or accept the new one first.")
        held.delivery = .sending
        held.failure = nil
        await harness.publish(.changed([held]))
        item = try #require(harness.messages.first)
        #expect(item.rejectedItem == nil && explanation(item) == nil && item.shownFailure == nil)
    }

    @Test("A message that a new identity of the user's own holds back blames nobody else")
    func ownIdentity() async throws {
        var held = Message.of(1, by: Fixtures.own, delivery: .failed)
        held.transactionID = TransactionID("t")
        held.failure = .ownIdentityReplaced
        await harness.open([held])
        #expect(
            explanation(try #require(harness.messages.first))
                == "Your account has a new identity, which has not confirmed this device.")
    }

    @Test("A rejected message says why, and its row is updated when only the reason differs")
    func rejectedMessage() async throws {
        var rejected = Message.of(1, by: Fixtures.own, delivery: .failed)
        rejected.transactionID = TransactionID("t")
        rejected.failure = .notPermitted
        await harness.open([rejected])
        #expect(explanation(try #require(harness.messages.first)) == "You do not have permission to do this")
        rejected.failure = .tooLarge
        await harness.publish(.changed([rejected]))
        #expect(explanation(try #require(harness.messages.first)) == "Too large for the server")
    }

    @Test("A rejected change says why; one that is pending does not")
    func rejectedChange() async throws {
        var message = Message.of(1, by: Fixtures.own)
        message.pendingChange = PendingChange(
            transaction: TransactionID("e"), kind: .edit, isRejected: true, failure: .messageTooLong)
        var other = Message.of(2, by: Fixtures.own)
        other.pendingChange = PendingChange(transaction: TransactionID("f"), kind: .edit)
        await harness.open([message, other])
        #expect(harness.messages.map(explanation) == ["Message too long", nil])
    }
}
