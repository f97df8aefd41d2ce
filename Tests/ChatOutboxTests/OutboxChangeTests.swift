import ChatCore
import ChatTestSupport
import Composer
import Testing

@testable import ChatOutbox
@testable import ChatStore

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

    /// The server may have received the message although no response arrived.
    @Test(arguments: [true, false]) func attemptedRequestsCountAsPossiblySentAfterRestart(isDeleted: Bool) async throws
    {
        var harness = try await OutboxHarness(isOnline: false)
        try await harness.send("frist", as: "t")
        harness.server.fail(with: .unreachable)
        await harness.outbox.setOnline(true)
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        harness = try await harness.restarted(isOnline: false)
        if isDeleted {
            try await harness.outbox.delete(queued, in: harness.room, transaction: TransactionID("d"))
        } else {
            try await edit(queued, "first", as: "e", in: harness)
        }
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        let change = isDeleted ? "d delete $t" : "e edit $t first"
        #expect(harness.server.calls == ["t send frist", "t send frist", change])
    }

    @Test("What was never attempted is edited and deleted in the queue alone, after a restart as well")
    func neverAttempted() async throws {
        var harness = try await OutboxHarness(isOnline: false)
        for id in ["t", "u", "v"] { try await harness.send("frist", as: id) }
        try await edit(.queued(TransactionID("v")), "last", as: "e1", in: harness)
        harness = try await harness.restarted(isOnline: false)
        try await edit(.queued(TransactionID("u")), "first", as: "e2", in: harness)
        try await harness.outbox.react("👍", isAdded: true, to: queued, in: harness.room, transaction: .init("r"))
        harness = try await harness.restarted(isOnline: false)
        try await harness.outbox.delete(queued, in: harness.room, transaction: TransactionID("d"))
        #expect(try await harness.store.outboxRequests().map(\.id.rawValue) == ["u", "v"])
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["u send first", "v send last"])
    }

    @Test("That a message is attempted is stored before the server gets it", arguments: [true, false])
    func attemptIsStoredFirst(isOnline: Bool) async throws {
        let harness = try await OutboxHarness(isOnline: isOnline)
        harness.server.suspend()
        for id in ["t", "u"] { try await harness.send("text", as: id) }
        if !isOnline {
            #expect(try await harness.store.outboxRequests().map(\.wasAttempted) == [false, false])
            await harness.outbox.setOnline(true)
        }
        try await harness.items { $0.first?.state == .sending }
        #expect(try await harness.store.outboxRequests().map(\.wasAttempted) == [true, false])
        harness.server.release()
        try await harness.waitUntilEmpty()
    }

    @Test("An attempt that cannot be stored is not made, and delayed")
    func attemptThatCannotBeStored() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        try await harness.send("text", as: "t")
        harness.store.beforeAccess.withLock { $0 = { throw ChatError.diskFull } }
        await harness.outbox.setOnline(true)
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        #expect(harness.server.calls.isEmpty)
        harness.store.beforeAccess.withLock { $0 = {} }
        try await harness.outbox.delete(queued, in: harness.room, transaction: TransactionID("d"))
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls.isEmpty)
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

    @Test("A message that is about to be deleted is neither edited nor reacted to")
    func changesAfterDeletion() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        let target = OutboxTarget.message(MessageID("$m"))
        try await harness.outbox.delete(target, in: harness.room, transaction: TransactionID("d"))
        await #expect(throws: ChatError.notFound) {
            try await harness.outbox.edit(
                target, in: harness.room, to: WrittenText("late"), transaction: TransactionID("e"))
        }
        await #expect(throws: ChatError.notFound) {
            try await harness.outbox.react(
                "👍", isAdded: true, to: target, in: harness.room, transaction: TransactionID("r"))
        }
        #expect(try await harness.store.outboxRequests().map(\.id) == [TransactionID("d")])
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

    @Test("Changes of sent messages go on in order behind a rejected message; those of queued messages wait")
    func changesBehindARejectedMessage() async throws {
        var harness = try await OutboxHarness(isOnline: false)
        let (sent, other) = (OutboxTarget.message(MessageID("$m")), OutboxTarget.message(MessageID("$o")))
        let later = OutboxTarget.queued(TransactionID("l"))
        func react(to target: OutboxTarget, as id: String) async throws {
            try await harness.outbox.react(
                "👍", isAdded: true, to: target, in: harness.room, transaction: TransactionID(id))
        }
        try await harness.send("text", as: "t")
        try await react(to: queued, as: "r1")
        try await edit(sent, "1", as: "e1", in: harness)
        try await harness.send("later", as: "l")
        try await react(to: later, as: "r2")
        try await react(to: other, as: "r3")
        harness.server.fail(with: .rejected(reason: "too large"))
        await harness.outbox.setOnline(true)
        try await harness.items { $0.map(\.request.id.rawValue) == ["t", "r1", "l", "r2"] }
        harness.server.fail(with: .unreachable)
        try await edit(sent, "2", as: "e2", in: harness)
        try await harness.items { $0.last?.state == .retrying(attempts: 1) }
        // An attempt was made, so this one must not overtake it.
        try await edit(sent, "3", as: "e3", in: harness)
        try await harness.outbox.delete(other, in: harness.room, transaction: TransactionID("d"))
        harness = try await harness.restarted()
        try await harness.items { $0.map(\.request.id.rawValue) == ["t", "r1", "l", "r2"] }
        let changes = ["e1 edit $m 1", "r3 react $o 👍", "e2 edit $m 2", "e2 edit $m 2", "e3 edit $m 3", "d delete $o"]
        #expect(harness.server.calls == ["t send text"] + changes)
        try await harness.outbox.retry(in: harness.room)
        try await harness.waitUntilEmpty()
        let messages = ["t send text", "r1 react $t 👍", "l send later", "r2 react $l 👍"]
        #expect(harness.server.calls.suffix(4) == messages)
    }

    // MARK: Changes that replace others

    private let sent = OutboxTarget.message(MessageID("$m"))

    private func react(isAdded: Bool, as id: String, in harness: OutboxHarness) async throws {
        try await harness.outbox.react(
            "👍", isAdded: isAdded, to: sent, in: harness.room, transaction: TransactionID(id))
    }

    /// An outbox with two changes: the first is rejected, and the second was queued while it was in flight.
    /// - Parameter error: how the attempt of the second one fails.
    private func withTwoChanges(
        failing error: DeliveryError, _ change: (OutboxHarness, Int) async throws -> Void
    ) async throws -> OutboxHarness {
        let harness = try await OutboxHarness()
        harness.server.suspend()
        harness.server.fail(with: .rejected(reason: "no"), error)
        try await change(harness, 1)
        try await harness.items { $0.first?.state == .sending }
        try await change(harness, 2)
        harness.server.release()
        let second: OutboxItem.State =
            if case .rejected(let reason) = error { .failed(reason: reason) } else { .retrying(attempts: 1) }
        try await harness.items { $0.map(\.state) == [.failed(reason: "no"), second] }
        return harness
    }

    @Test("An edit replaces all earlier ones that were rejected: none of them can be retried over it")
    func rejectedEdits() async throws {
        let harness = try await withTwoChanges(failing: .rejected(reason: "no")) { harness, number in
            try await edit(sent, "\(number)", as: "e\(number)", in: harness)
        }
        try await edit(sent, "3", as: "e3", in: harness)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["e1 edit $m 1", "e2 edit $m 2", "e2 edit $m 3"])
        #expect(try await harness.store.outboxRequests() == [])
    }

    @Test("An edit is sent after an earlier one that the server may have, not in the place of a rejected one before it")
    func editAfterAnAttemptedOne() async throws {
        let harness = try await withTwoChanges(failing: .unreachable) { harness, number in
            try await edit(sent, "\(number)", as: "e\(number)", in: harness)
        }
        try await edit(sent, "3", as: "e3", in: harness)
        #expect(try await harness.store.outboxRequests().map(\.id.rawValue) == ["e2", "e3"])
        try await harness.outbox.retry(in: harness.room)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["e1 edit $m 1", "e2 edit $m 2", "e2 edit $m 2", "e3 edit $m 3"])
    }

    @Test("A rejected edit goes once the server has accepted a later one; those of other messages stay")
    func acceptedEdit() async throws {
        let harness = try await OutboxHarness()
        harness.server.suspend()
        harness.server.fail(with: .rejected(reason: "no"), .rejected(reason: "no"))
        try await edit(sent, "1", as: "e1", in: harness)
        try await harness.items { $0.first?.state == .sending }
        try await edit(.message(MessageID("$other")), "other", as: "o", in: harness)
        try await edit(sent, "2", as: "e2", in: harness)
        harness.server.release()
        try await harness.items { $0.map(\.request.id.rawValue) == ["o"] }
        #expect(harness.server.calls == ["e1 edit $m 1", "o edit $other other", "e2 edit $m 2"])
        #expect(try await harness.store.outboxRequests().map(\.id.rawValue) == ["o"])
    }

    @Test("The edit of a rejected message replaces those that were queued while it was in flight")
    func editOfARejectedMessage() async throws {
        let harness = try await OutboxHarness()
        harness.server.suspend()
        harness.server.fail(with: .rejected(reason: "no"))
        try await harness.send("1", as: "t")
        try await harness.items { $0.first?.state == .sending }
        try await edit(queued, "2", as: "e2", in: harness)
        harness.server.release()
        try await harness.items { $0.map(\.state) == [.failed(reason: "no"), .waiting] }
        try await edit(queued, "3", as: "e3", in: harness)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send 1", "t send 3"])
        #expect(try await harness.store.outboxRequests() == [])
    }

    @Test("Edits that could not be replaced stay as they were")
    func replacementThatCannotBeStored() async throws {
        let harness = try await withTwoChanges(failing: .rejected(reason: "no")) { harness, number in
            try await edit(sent, "\(number)", as: "e\(number)", in: harness)
        }
        await harness.outbox.setOnline(false)
        harness.store.beforeAccess.withLock { $0 = { throw ChatError.diskFull } }
        await #expect(throws: ChatError.self) { try await edit(sent, "3", as: "e3", in: harness) }
        harness.store.beforeAccess.withLock { $0 = {} }
        let items = try await harness.items { _ in true }
        #expect(items.map(\.state) == [.failed(reason: "no"), .failed(reason: "no")])
        await harness.outbox.setOnline(true)
        try await harness.outbox.retry(in: harness.room)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls.suffix(2) == ["e1 edit $m 1", "e2 edit $m 2"])
    }

    @Test("The last reaction wins, whatever became of earlier ones", arguments: [true, false])
    func reactions(isSecondRejected: Bool) async throws {
        let error: DeliveryError = isSecondRejected ? .rejected(reason: "no") : .unreachable
        let harness = try await withTwoChanges(failing: error) { harness, number in
            try await react(isAdded: number == 1, as: "r\(number)", in: harness)
        }
        try await react(isAdded: true, as: "r3", in: harness)
        try await harness.outbox.retry(in: harness.room)
        try await harness.waitUntilEmpty()
        let last = isSecondRejected ? ["r2 react $m 👍"] : ["r2 unreact $m 👍", "r3 react $m 👍"]
        #expect(harness.server.calls == ["r1 react $m 👍", "r2 unreact $m 👍"] + last)
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

    @Test(
        "A message that has failed is attempted again at once when it is confirmed, and holds up no others",
        arguments: [DeliveryError.rejected(reason: "no"), .unreachable])
    func confirmedAfterFailure(error: DeliveryError) async throws {
        let harness = try await OutboxHarness(retainsAccepted: true)
        harness.server.fail(with: error)
        try await harness.send("text", as: "t")
        let failed: [OutboxItem.State] = [.failed(reason: "no"), .retrying(attempts: 1)]
        try await harness.items { items in items.contains { failed.contains($0.state) } }
        try await harness.send("later", as: "l")
        await harness.outbox.confirm([TransactionID("t")], in: harness.room)
        try await harness.items { $0.map(\.state) == [.accepted(MessageID("$l"))] }
        #expect(harness.server.calls == ["t send text", "t send text", "l send later"])
        #expect(try await harness.store.outboxRequests() == [])
    }

    @Test("A message that is confirmed in flight is attempted again after a failure, with a delay")
    func failedAfterConfirmation() async throws {
        let harness = try await OutboxHarness(retainsAccepted: true)
        harness.server.suspend()
        harness.server.fail(with: .rejected(reason: "no"))
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .sending }
        await harness.outbox.confirm([TransactionID("t")], in: harness.room)
        harness.server.release()
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        await harness.outbox.confirm([TransactionID("t")], in: harness.room)
        // One timer for the next attempt, one for the five-minute mark.
        await harness.clock.waitForSleepers(2)
        #expect(harness.server.calls.count == 1)
        harness.clock.advance(by: .seconds(1))
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send text", "t send text"])
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
