import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

/// Replies and messages that cannot be sent at once, or whose process ended meanwhile.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct StoredReplyTests: AccountsSuite {
    let service = FakeAccountService()
    let clock = ManualClock()
    let local = ConversationCoordinator(service: FakeChatService())
    let made = Recorder<String>()

    private let folder = TemporaryFolder()

    /// Returns the replies as a process that starts finds them.
    private func storedReplies() async -> UnsentReplies {
        let replies = UnsentReplies(in: UnsentReplyFolder(folder.path("replies")))
        await replies.load()
        return replies
    }

    /// Starts with an account whose room "garden" is listed.
    private func start(over backend: FakeChatService, _ replies: UnsentReplies) -> AccountsCoordinator {
        backend.publish([.of("garden", at: localTime(2026, 3, 10))])
        let accounts = AccountsCoordinator(
            local: local, service: service, time: Timekeeper(clock), unsentReplies: replies
        ) { id, _ in Self.started(id == Self.ann.id ? backend : FakeChatService()) }
        accounts.start(showing: AccountsCoordinator.localID)
        return accounts
    }

    private static let garden = NotificationTarget(
        account: ann.id, room: RoomID("garden"), message: MessageID("$one"))

    @Test("A reply for an account that is not open is stored at once, and added to the room's draft once it opens")
    func replyWaitsForItsAccount() async {
        let (backend, replies) = (FakeChatService(), await storedReplies())
        let accounts = start(over: backend, replies)
        publish(.broken(reason: "x"))
        await eventually { accounts.rows.count == 3 }
        let sending = Task { await accounts.send("At three\n(sharp)", answering: Self.garden) }
        await clock.waitForSleepers()
        await replies.flush()
        #expect(await storedReplies().replies.map(\.stage) == [.sending], "a crash meanwhile loses nothing")
        #expect(accounts.strandedReplies.isEmpty)
        clock.advance(by: .seconds(3))
        await sending.value
        #expect(replies.replies.map(\.text) == ["At three\n(sharp)"] && accounts.strandedReplies.isEmpty)
        #expect(await storedReplies().replies == replies.replies, "it outlives the program")
        publish(.online)
        await eventually { replies.replies.isEmpty }
        #expect(backend.drafts[Self.garden.room]?.preview == "At three\n(sharp)")
        await replies.flush()
        #expect(await storedReplies().replies.isEmpty)
    }

    @Test("A reply whose process ended while it was sent is sent at the next start, as the same transaction")
    func interruptedReplyIsSentOnce() async throws {
        let (backend, crashed) = (FakeChatService(), await storedReplies())
        let reply = try #require(crashed.accept("At three", answering: Self.garden))
        await crashed.flush()
        let replies = await storedReplies()
        let accounts = start(over: backend, replies)
        publish(.online)
        await eventually { replies.replies.isEmpty }
        #expect(backend.calls.filter(\.isSend) == [.send("At three", reply.transaction)])
        #expect(backend.drafts.isEmpty && accounts.strandedReplies.isEmpty)
        await eventually { backend.calls.contains(.markRead(MessageID("$one"))) }
        await replies.flush()
        #expect(await storedReplies().replies.isEmpty)
    }

    @Test("A reply whose process ended while it joined the draft is in the draft once", arguments: ["", "\nAt three"])
    func interruptedDraftIsNotDoubled(added: String) async throws {
        let (backend, replies) = (FakeChatService(), UnsentReplies())
        replies.add(UnsentReplies.Reply("At three", to: Self.garden, stage: .joiningDraft))
        backend.drafts[Self.garden.room] = ComposerHarness.draft("unsent" + added)
        let accounts = start(over: backend, replies)
        publish(.online)
        await eventually { replies.replies.isEmpty && accounts.strandedReplies.isEmpty }
        let stored = try ComposerDraft.decode(try #require(backend.drafts[Self.garden.room]).data)
        #expect(stored.content.written == WrittenText("unsent\nAt three"))
    }

    @Test("A reply that cannot be sent stays on the disk until it is in the draft")
    func rejectedReplyJoinsTheDraft() async {
        let (backend, replies) = (FakeChatService(), await storedReplies())
        let accounts = await startOnline(over: backend, replies)
        let gate = Gate()
        backend.before = { call in
            if call.isSend { throw ChatError.diskFull }
            if call.isSaveDraft { await gate.pass() }
        }
        let sending = Task { await accounts.send("At three", answering: Self.garden) }
        await eventually { gate.waiting == 1 }
        #expect(await storedReplies().replies.map(\.text) == ["At three"])
        gate.open()
        await sending.value
        #expect(backend.drafts[Self.garden.room]?.preview == "At three" && replies.replies.isEmpty)
    }

    @Test("A reply whose stage cannot be stored stays out of the draft, and is sent once, by the next start")
    func unstoredStageKeepsTheReplyOutOfTheDraft() async throws {
        let (backend, later, replies) = (FakeChatService(), FakeChatService(), await storedReplies())
        let accounts = await startOnline(over: backend, replies)
        let reply = try #require(replies.accept("At three", answering: Self.garden))
        await replies.flush()
        // The file can be written once: then a folder is in its place.
        let obstacle = folder.path("replies/\(reply.id).new")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        backend.before = { if $0.isSend { throw ChatError.diskFull } }
        await accounts.deliver(reply)
        #expect(backend.calls.filter { $0.isSaveDraft }.isEmpty && replies.replies == [reply])
        let restored = await storedReplies()
        let restarted = start(over: later, restored)
        await eventually { restored.replies.isEmpty && restarted.strandedReplies.isEmpty }
        #expect(later.calls.filter { $0.isSend } == [.send("At three", reply.transaction)])
        #expect(later.calls.filter { $0.isSaveDraft }.isEmpty)
    }

    @Test("A reply whose draft cannot be stored is kept until it is")
    func unstoredDraftKeepsTheReply() async {
        let (backend, replies) = (FakeChatService(), await storedReplies())
        let accounts = await startOnline(over: backend, replies)
        backend.before = { if $0.isSend || $0.isSaveDraft { throw ChatError.diskFull } }
        await accounts.send("At three", answering: Self.garden)
        #expect(await storedReplies().replies.map(\.stage) == [.joiningDraft])
        backend.before = { _ in }
        await accounts.flushDrafts()
        #expect(backend.drafts[Self.garden.room]?.preview == "At three" && replies.replies.isEmpty)
        await replies.flush()
        #expect(await storedReplies().replies.isEmpty)
    }

    /// Starts, and returns once the account's rooms are loaded.
    private func startOnline(over backend: FakeChatService, _ replies: UnsentReplies) async -> AccountsCoordinator {
        let accounts = start(over: backend, replies)
        publish(.online)
        await eventually { accounts.coordinator(of: Self.ann.id)?.rooms.state.isLoaded == true }
        return accounts
    }

    private func sent(_ backend: FakeChatService) -> [String] {
        backend.calls.compactMap { if case .send(let text, _) = $0 { text } else { nil } }
    }

    @Test("Interrupted replies are sent one after the other, oldest first")
    func interruptedRepliesKeepTheirOrder() async {
        let (backend, replies, gate) = (FakeChatService(), UnsentReplies(), Gate())
        for text in ["one", "two"] { replies.add(UnsentReplies.Reply(text, to: Self.garden, stage: .sending)) }
        backend.before = { if $0.isSend { await gate.pass() } }
        let accounts = start(over: backend, replies)
        publish(.online)
        await eventually { gate.waiting == 1 }
        await waitUntilIdle()
        #expect(sent(backend) == ["one"])
        gate.open()
        await eventually { replies.replies.isEmpty && accounts.strandedReplies.isEmpty }
        #expect(sent(backend) == ["one", "two"])
    }

    @Test("A reply that the session before is still delivering is waited for, and then is where that has left it")
    func deliveryOfAnEarlierSessionIsWaitedFor() async {
        let (backend, replies) = (FakeChatService(), UnsentReplies())
        let reply = UnsentReplies.Reply("At three", to: Self.garden, stage: .sending)
        replies.add(reply)
        #expect(replies.beginDelivery(of: reply) == reply)
        let accounts = await startOnline(over: backend, replies)
        await waitUntilIdle()
        #expect(sent(backend).isEmpty && replies.replies == [reply])
        await replies.move(reply, to: .joiningDraft)
        replies.endDelivery(of: reply)
        await eventually { replies.replies.isEmpty && accounts.strandedReplies.isEmpty }
        #expect(sent(backend).isEmpty && backend.drafts[Self.garden.room]?.preview == "At three")
    }

    @Test("A stored reply joins the message that a restored edit has interrupted")
    func storedReplyStaysOutOfAnEdit() async throws {
        let (backend, replies) = (FakeChatService(), UnsentReplies())
        replies.add(UnsentReplies.Reply("At three", to: Self.garden))
        backend.drafts[Self.garden.room] = ComposerHarness.draft("better", editing: "m1", stash: "unsent")
        let accounts = start(over: backend, replies)
        publish(.online)
        await eventually { replies.replies.isEmpty && accounts.strandedReplies.isEmpty }
        let stored = try ComposerDraft.decode(try #require(backend.drafts[Self.garden.room]).data)
        #expect(stored.mode == .edit("m1") && stored.content.written == WrittenText("better"))
        #expect(stored.stash?.written == WrittenText("unsent\nAt three"))
    }

    @Test("A reply for a removed account waits for the user's decision")
    func strandedReplyStays() async {
        publish(.online)
        let accounts = make()
        #expect(accounts.strandedReplies.isEmpty, "nothing is known of the accounts yet")
        await eventually { accounts.rows.count == 3 }
        let target = NotificationTarget(account: "@gone:example.org", room: RoomID("garden"))
        let sending = Task { await accounts.send("At three", answering: target) }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(3))
        await sending.value
        #expect(accounts.strandedReplies.map(\.text) == ["At three"])
        #expect(
            accounts.question(about: accounts.strandedReplies[0], .untranslated)
                == "@gone:example.org is no longer on this computer. You wrote:\n\nAt three")
        accounts.unsentReplies.remove(accounts.strandedReplies[0])
        #expect(accounts.strandedReplies.isEmpty)
    }

    @Test("A reply to a room that was left waits for the user's decision, also after a restart")
    func replyToALeftRoomStays() async {
        let (backend, later) = (FakeChatService(), FakeChatService())
        publish(.online)
        let accounts = start(over: backend, await storedReplies())
        await eventually { accounts.coordinator(of: Self.ann.id)?.rooms.state.isLoaded == true }
        await accounts.send("At three", answering: NotificationTarget(account: Self.ann.id, room: RoomID("shed")))
        #expect(accounts.strandedReplies.map(\.text) == ["At three"] && !backend.calls.contains(where: \.isSend))
        #expect(
            accounts.question(about: accounts.strandedReplies[0], .untranslated)
                == "You are no longer in the room that you replied to. You wrote:\n\nAt three")
        let restarted = start(over: later, await storedReplies())
        await eventually { restarted.strandedReplies.map(\.text) == ["At three"] }
        #expect(backend.drafts.isEmpty && later.drafts.isEmpty)
    }

    @Test("A message whose room was left before it was stored waits for the user's decision")
    func unsentMessageOfALeftRoomStays() async {
        let chats = FakeChatService()
        let coordinator = ConversationCoordinator(service: chats)
        let accounts = AccountsCoordinator(local: coordinator)
        coordinator.start(opening: nil)
        chats.publish([.of("plans", at: Fixtures.date)])
        await eventually { coordinator.rooms.state.isLoaded }
        coordinator.onUnsent("Hello", RoomID("gone"))
        #expect(accounts.strandedReplies.map(\.text) == ["Hello"])
        #expect(accounts.strandedReplies[0].heading(.untranslated) == "Message Not Sent")
        #expect(
            accounts.question(about: accounts.strandedReplies[0], .untranslated)
                == "You are no longer in the room that you wrote to. You wrote:\n\nHello")
    }
}
