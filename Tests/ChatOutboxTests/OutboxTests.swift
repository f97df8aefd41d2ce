import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatOutbox

@Suite(.timeLimit(.minutes(10))) struct OutboxTests {
    @Test func sendsInOrderOneAtATime() async throws {
        let harness = try await OutboxHarness()
        harness.server.suspend()
        for number in 1...3 { try await harness.send("\(number)", as: "t\(number)") }
        let items = try await harness.items { $0.first?.state == .sending }
        #expect(items.map(\.state) == [.sending, .waiting, .waiting])
        #expect(harness.server.calls == ["t1 send 1"])
        harness.server.release()
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t1 send 1", "t2 send 2", "t3 send 3"])
        #expect(try await harness.store.outboxRequests() == [])
    }

    @Test func roomsSendIndependently() async throws {
        let harness = try await OutboxHarness()
        harness.server.suspend()
        try await harness.send("1", as: "t1")
        try await harness.outbox.send(WrittenMessage("2"), transaction: TransactionID("t1"), to: harness.other)
        try await harness.items { $0.first?.state == .sending }
        var items = harness.outbox.items(in: harness.other).makeAsyncIterator()
        #expect(await items.next { $0.first?.state == .sending } != nil)
        harness.server.release()
        try await harness.waitUntilEmpty()
    }

    @Test func aTransactionIsQueuedOnlyOnce() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        try await harness.send("once", as: "t")
        try await harness.send("twice?", as: "t")
        #expect(try await harness.store.outboxRequests().count == 1)
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send once"])
    }

    @Test func resumesAfterRestartWithTheSameTransactions() async throws {
        var harness = try await OutboxHarness(isOnline: false)
        for number in 1...3 { try await harness.send("\(number)", as: "t\(number)") }
        harness = try await harness.restarted()
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t1 send 1", "t2 send 2", "t3 send 3"])
    }

    @Test func queueingAMessageRemovesItsDraftAtomically() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        _ = try await harness.store.saveDraft(Fixtures.draft("text"), in: harness.room)
        try await harness.outbox.send(
            WrittenMessage("text"), transaction: TransactionID("t"), to: harness.room, removingDraft: true)
        #expect(try await harness.store.draft(in: harness.room) == nil)
    }

    /// A crash between the parts of a text would send the stored ones twice.
    @Test func messagesOfASequenceAreQueuedAtomically() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        let messages = (1...3).map { (TransactionID("t\($0)"), WrittenMessage("\($0)")) }
        try await harness.outbox.send(messages, to: harness.room)
        try await harness.outbox.send(messages, to: harness.room)
        #expect(try await harness.store.outboxRequests().map(\.id.rawValue) == ["t1", "t2", "t3"])
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t1 send 1", "t2 send 2", "t3 send 3"])
        await harness.store.close()
        await #expect(throws: ChatError.self) { try await harness.outbox.send(messages, to: harness.room) }
        #expect(try await harness.items { _ in true } == [])
    }

    @Test("A message for a room that was left is rejected, and does not bring the room back", arguments: [false, true])
    func messageForALeftRoomIsRejected(withDraft: Bool) async throws {
        let harness = try await OutboxHarness(isOnline: false)
        try await harness.store.removeRoom(harness.room)
        let left = withDraft ? Fixtures.draft("newer") : nil
        await #expect(throws: ChatError.notFound) {
            try await harness.outbox.send(
                [(TransactionID("t"), WrittenMessage("late"))], to: harness.room, removingDraft: withDraft,
                leaving: left)
        }
        #expect(try await harness.items { _ in true } == [])
        #expect(try await harness.store.outboxRequests().isEmpty)
        // Another room sends on.
        try await harness.outbox.send(WrittenMessage("1"), transaction: TransactionID("t"), to: harness.other)
        await harness.outbox.close()
        await harness.store.close()
        let store = try await ChatStore.open(in: harness.folder.path("store"))
        #expect(try await store.roomSummaries().map(\.id) == [harness.other])
        await store.close()
    }

    @Test("What happens to a message whose room is being left does not bring the room back")
    func outcomeInALeftRoomIsNotStored() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        let file = MediaReference(uri: "media:a", name: "a", type: "image/png")
        try await harness.outbox.send(
            WrittenMessage("", files: [file]), transaction: TransactionID("t"), to: harness.room)
        harness.server.suspend()
        await harness.outbox.setOnline(true)
        try await harness.items { $0.first?.state == .sending }
        // The store removes the room before the outbox hears of it.
        try await harness.store.removeRoom(harness.room)
        harness.server.fail(with: .rejected(reason: "not a member"))
        harness.server.release()
        try await harness.items { $0.first?.state == .failed(reason: "not a member") }
        await harness.outbox.close()
        #expect(try await harness.store.outboxRequests().isEmpty)
    }

    @Test func requestsThatCannotBeStoredAreNotQueued() async throws {
        let harness = try await OutboxHarness()
        await harness.store.close()
        await #expect(throws: ChatError.self) { try await harness.send("text", as: "t") }
        #expect(try await harness.items { _ in true } == [])
        #expect(harness.server.calls.isEmpty)
    }

    @Test func filesAreUploadedOnceBeforeTheirMessage() async throws {
        var harness = try await OutboxHarness(isOnline: false)
        let files = ["a", "b"].map { name in
            MediaReference(uri: "media:\(name)", name: name, type: "image/png")
        }
        try await harness.outbox.send(
            WrittenMessage("two", kind: .image, files: files), transaction: TransactionID("t"),
            to: harness.room)
        try await harness.send("next", as: "u")
        harness = try await harness.restarted(isOnline: false)
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["upload a", "upload b", "t send two server:a server:b", "u send next"])
    }

    @Test func uploadedFilesAreNotUploadedAgain() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        let files = ["a", "b"].map { name in
            MediaReference(uri: "media:\(name)", name: name, type: "image/png")
        }
        try await harness.outbox.send(
            WrittenMessage("two", files: files), transaction: TransactionID("t"), to: harness.room)
        harness.server.suspend()
        await harness.outbox.setOnline(true)
        try await harness.items { $0.first?.state == .sending }
        harness.server.release()
        try await harness.waitUntilEmpty()
        harness.server.fail(with: .unreachable)
        #expect(harness.server.calls == ["upload a", "upload b", "t send two server:a server:b"])
    }

    @Test func rejectedMessageBlocksItsRoomUntilResolved() async throws {
        var harness = try await OutboxHarness(isOnline: false)
        for number in 1...3 { try await harness.send("\(number)", as: "t\(number)") }
        harness.server.fail(with: .rejected(reason: "too large"))
        await harness.outbox.setOnline(true)
        let items = try await harness.items { $0.first?.state == .failed(reason: "too large") }
        #expect(items.dropFirst().map(\.state) == [.waiting, .waiting])
        harness = try await harness.restarted()
        #expect(try await harness.items { _ in true }.first?.state == .failed(reason: "too large"))
        #expect(harness.server.calls == ["t1 send 1"])
        try await harness.outbox.retry(TransactionID("t1"), in: harness.room)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t1 send 1", "t1 send 1", "t2 send 2", "t3 send 3"])
    }

    /// Messages after a rejected message must wait, as they may refer to it; they need not wait for a rejected change.
    @Test func rejectedChangeDoesNotBlockTheQueue() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        let target = OutboxTarget.message(MessageID("$m"))
        func edit(_ text: String, as id: String) async throws {
            try await harness.outbox.edit(
                target, in: harness.room, to: WrittenText(text), transaction: TransactionID(id))
        }
        try await edit("a", as: "e")
        try await harness.send("1", as: "t1")
        harness.server.fail(with: .rejected(reason: "no"))
        await harness.outbox.setOnline(true)
        try await harness.items { $0.map(\.state) == [.failed(reason: "no")] }
        #expect(harness.server.calls == ["e edit $m a", "t1 send 1"])
        harness.server.fail(with: .rejected(reason: "still no"))
        try await harness.outbox.retry(TransactionID("e"), in: harness.room)
        try await harness.items { $0.map(\.state) == [.failed(reason: "still no")] }
        // Requesting the change again, with the same text or another, retries it.
        harness.server.fail(with: .rejected(reason: "never"))
        try await edit("a", as: "f")
        try await harness.items { $0.map(\.state) == [.failed(reason: "never")] }
        try await edit("b", as: "g")
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls.suffix(2) == ["e edit $m a", "e edit $m b"])
    }

    @Test func rejectedChangeIsDiscardedAloneOrWithItsMessage() async throws {
        let harness = try await OutboxHarness()
        let target = OutboxTarget.message(MessageID("$m"))
        for id in ["r1", "r2"] {
            harness.server.fail(with: .rejected(reason: "no"))
            try await harness.outbox.react(
                id, isAdded: true, to: target, in: harness.room, transaction: TransactionID(id))
        }
        try await harness.items { $0.map(\.state) == [.failed(reason: "no"), .failed(reason: "no")] }
        let unused: @Sendable () -> TransactionID = { TransactionID("unused") }
        try await harness.outbox.discard(TransactionID("r1"), in: harness.room, makeID: unused)
        try await harness.items { $0.map(\.request.id.rawValue) == ["r2"] }
        try await harness.outbox.delete(target, in: harness.room, transaction: TransactionID("d"))
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["r1 react $m r1", "r2 react $m r2", "d delete $m"])
    }

    @Test func uploadProgressIsReported() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        let files = [("a", 300), ("b", 100)].map { name, bytes in
            MediaReference(uri: "media:\(name)", name: name, type: "image/png", bytes: bytes)
        }
        try await harness.outbox.send(
            WrittenMessage("two", files: files), transaction: TransactionID("t"), to: harness.room)
        #expect(try await harness.items { _ in true }.first?.upload == 0)
        harness.server.parts = [0.2, 0.6]
        harness.server.suspend()
        await harness.outbox.setOnline(true)
        try await harness.items { $0.first?.upload == 0.45 }
        harness.server.release()
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["upload a", "upload b", "t send two server:a server:b"])
    }

    /// Until its files are uploaded, a message can be canceled without a trace on the server.
    @Test(arguments: [false, true]) func uploadCanBeCanceled(afterARestart: Bool) async throws {
        var harness = try await OutboxHarness(isOnline: false)
        let file = MediaReference(uri: "media:a", name: "a", type: "image/png")
        try await harness.outbox.send(
            WrittenMessage("", files: [file]), transaction: TransactionID("t"), to: harness.room)
        try await harness.send("next", as: "u")
        if afterARestart { harness = try await harness.restarted(isOnline: false) }
        harness.server.suspend()
        await harness.outbox.setOnline(true)
        try await harness.items { $0.first?.state == .sending }
        try await harness.outbox.delete(
            .queued(TransactionID("t")), in: harness.room, transaction: TransactionID("d"))
        #expect(try await harness.items { _ in true }.map(\.request.id.rawValue) == ["u"])
        #expect(try await harness.store.outboxRequests().map(\.id.rawValue) == ["u"])
        harness.server.release()
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["upload a", "u send next"])
        #expect(try await harness.store.outboxRequests().isEmpty)
    }

    @Test func oneOrAllMessagesCanBeDiscarded() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        for number in 1...4 { try await harness.send("\(number)", as: "t\(number)") }
        harness.server.fail(with: .rejected(reason: "no"))
        await harness.outbox.setOnline(true)
        try await harness.items { $0.first?.state == .failed(reason: "no") }
        await harness.outbox.setOnline(false)
        let unused: @Sendable () -> TransactionID = { TransactionID("unused") }
        try await harness.outbox.discard(TransactionID("t1"), in: harness.room, makeID: unused)
        try await harness.items { $0.map(\.request.id.rawValue) == ["t2", "t3", "t4"] }
        try await harness.outbox.discard(in: harness.room, makeID: unused)
        #expect(try await harness.items { _ in true } == [])
        #expect(try await harness.store.outboxRequests() == [])
        #expect(harness.server.calls == ["t1 send 1"])
    }

    @Test func closingWaitsForTheRequestInFlight() async throws {
        let harness = try await OutboxHarness()
        harness.server.suspend()
        try await harness.send("1", as: "t1")
        try await harness.items { $0.first?.state == .sending }
        let outbox = harness.outbox
        let closing = Task { await outbox.close() }
        harness.server.release()
        await closing.value
        await harness.store.close()
        let again = try await OutboxHarness(in: harness.folder, server: harness.server)
        try await again.waitUntilEmpty()
        #expect(Set(harness.server.calls) == ["t1 send 1"])
    }
}
