import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Testing

@testable import ChatOutbox

/// Edits, deletions and reactions whose target is itself still queued.
@Suite(.timeLimit(.minutes(10))) struct OutboxChangeTests {
    private func edit(_ target: OutboxTarget, _ text: String, as id: String, in harness: OutboxHarness) async throws {
        try await harness.outbox.edit(target, in: harness.room, to: WrittenText(text), transaction: TransactionID(id))
    }

    private let queued = OutboxTarget.queued(TransactionID("t"))

    @Test func unsentMessageIsEditedInPlace() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        try await harness.send("frist", as: "t")
        try await harness.send("next", as: "u")
        try await edit(queued, "first", as: "e", in: harness)
        #expect(try await harness.store.outboxRequests().map(\.id.rawValue) == ["t", "u"])
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send first", "u send next"])
    }

    @Test func possiblySentMessageIsEditedByAnotherRequest() async throws {
        let harness = try await OutboxHarness()
        harness.server.suspend()
        try await harness.send("frist", as: "t")
        try await harness.items { $0.first?.state == .sending }
        try await edit(queued, "firts", as: "e1", in: harness)
        try await edit(queued, "first", as: "e2", in: harness)
        harness.server.release()
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send frist", "e1 edit $t first"])
    }

    @Test func queuedRequestsCountAsPossiblySentAfterRestart() async throws {
        var harness = try await OutboxHarness(isOnline: false)
        try await harness.send("frist", as: "t")
        harness = try await harness.restarted(isOnline: false)
        try await edit(queued, "first", as: "e", in: harness)
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send frist", "e edit $t first"])
    }

    @Test func deletingAnUnsentMessageSendsNothing() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        try await harness.send("text", as: "t")
        try await harness.outbox.react("👍", isAdded: true, to: queued, in: harness.room, transaction: .init("r"))
        try await harness.outbox.delete(queued, in: harness.room, transaction: TransactionID("d"))
        #expect(try await harness.store.outboxRequests() == [])
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == [])
    }

    @Test func deletingAPossiblySentMessageDeletesItOnTheServer() async throws {
        let harness = try await OutboxHarness()
        harness.server.suspend()
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .sending }
        try await edit(queued, "other", as: "e", in: harness)
        try await harness.outbox.delete(queued, in: harness.room, transaction: TransactionID("d"))
        harness.server.release()
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send text", "d delete $t"])
    }

    @Test func reactionsAreSentAfterTheirMessage() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        try await harness.send("text", as: "t")
        for (text, id) in [("👍", "r1"), ("🎉", "r2")] {
            try await harness.outbox.react(
                text, isAdded: true, to: queued, in: harness.room, transaction: TransactionID(id))
        }
        try await harness.outbox.react("🎉", isAdded: false, to: queued, in: harness.room, transaction: .init("r3"))
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send text", "r1 react $t 👍"])
    }

    @Test func targetOfAChangeSurvivesRestart() async throws {
        var harness = try await OutboxHarness(isOnline: false)
        try await harness.send("text", as: "t")
        try await harness.outbox.react("👍", isAdded: true, to: queued, in: harness.room, transaction: .init("r"))
        harness.server.fail(with: .rejected(reason: "no"))
        await harness.outbox.setOnline(true)
        try await harness.items { $0.first?.state == .failed(reason: "no") }
        harness = try await harness.restarted()
        try await harness.outbox.retry(in: harness.room)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send text", "t send text", "r react $t 👍"])
    }

    @Test func changesToSentLocalEchoesFailWithNotFound() async throws {
        let harness = try await OutboxHarness()
        try await harness.send("text", as: "t")
        try await harness.waitUntilEmpty()
        await #expect(throws: ChatError.notFound) { try await edit(queued, "x", as: "e", in: harness) }
        try await edit(.message(MessageID("$t")), "x", as: "e", in: harness)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send text", "e edit $t x"])
    }

    @Test("A message that is deleted before the server rejects it leaves the queue, and later ones are sent")
    func deletedThenRejected() async throws {
        let harness = try await OutboxHarness()
        harness.server.fail(with: .unreachable, .rejected(reason: "too large"))
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        try await harness.outbox.delete(queued, in: harness.room, transaction: TransactionID("d"))
        try await harness.send("later", as: "l")
        try await harness.outbox.retry(in: harness.room)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send text", "t send text", "l send later"])
        #expect(try await harness.store.outboxRequests() == [])
    }

    @Test("A rejected message that was stored with its deletion does not block the room after a restart")
    func storedRejectionWithDeletion() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        try await harness.send("text", as: "t")
        try await harness.send("later", as: "l")
        var requests = try await harness.store.outboxRequests()
        requests[0].failure = "too large"
        let deletion = OutboxRequest(
            id: TransactionID("d"), room: harness.room, action: .delete(queued), queuedAt: Fixtures.date)
        try await harness.store.commit(OutboxChange(put: [requests[0], deletion]))
        let again = try await harness.restarted()
        try await again.waitUntilEmpty()
        #expect(again.server.calls == ["l send later"])
        #expect(try await again.store.outboxRequests() == [])
    }

    // MARK: Accepted messages

    @Test("An accepted message stays among the items with its accepted changes until it is confirmed")
    func accepted() async throws {
        let harness = try await OutboxHarness(retainsAccepted: true)
        let event = MessageID("$t")
        try await harness.send("frist", as: "t")
        try await harness.items { $0.map(\.state) == [.accepted(event)] }
        #expect(try await harness.store.outboxRequests() == [], "the server has it")
        try await edit(queued, "first", as: "e", in: harness)
        let items = try await harness.items { $0.map(\.state) == [.accepted(event), .accepted(event)] }
        #expect(items.map(\.request.id.rawValue) == ["t", "e"])
        try await harness.send("again", as: "t")
        try await edit(.message(MessageID("$other")), "other", as: "o", in: harness)
        await harness.outbox.confirm([TransactionID("t")], in: harness.room)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send frist", "e edit $t first", "o edit $other other"])
    }

    @Test("A message that is confirmed before the server's response is not retained")
    func confirmedInFlight() async throws {
        let harness = try await OutboxHarness(retainsAccepted: true)
        harness.server.suspend()
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .sending }
        await harness.outbox.confirm([TransactionID("t")], in: harness.room)
        harness.server.release()
        try await harness.waitUntilEmpty()
    }

    @Test("A room that was left retains nothing")
    func left() async throws {
        let harness = try await OutboxHarness(retainsAccepted: true)
        try await harness.send("text", as: "t")
        try await harness.items { $0.map(\.state) == [.accepted(MessageID("$t"))] }
        try await harness.outbox.forget(harness.room)
        try await harness.waitUntilEmpty()
    }
}
