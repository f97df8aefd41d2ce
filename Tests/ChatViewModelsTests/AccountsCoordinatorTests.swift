import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

@MainActor
@Suite(.timeLimit(.minutes(5)))
struct AccountsCoordinatorTests {
    private static let ann = account("ann")
    private static let bo = account("bo")

    private let service = FakeAccountService()
    private let clock = ManualClock()
    private let local = ConversationCoordinator(service: FakeChatService())
    private let made = Recorder<String>()

    private static func account(_ name: String) -> Account {
        Account(id: "@\(name):example.org", kind: "matrix", server: "https://example.org", device: "D", name: name)
    }

    private func make(showing account: String = AccountsCoordinator.localID) -> AccountsCoordinator {
        let accounts = AccountsCoordinator(local: local, service: service, time: Timekeeper(clock)) { [made] id, _ in
            made.record(id)
            return ConversationCoordinator(service: FakeChatService())
        }
        accounts.start(showing: account)
        return accounts
    }

    private func publish(_ ann: AccountCondition, _ bo: AccountCondition = .online) {
        service.publish([
            AccountState(account: Self.ann, condition: ann), AccountState(account: Self.bo, condition: bo),
        ])
    }

    @Test func eachAccountHasItsOwnConversations() async {
        let accounts = make()
        #expect(accounts.rows.map(\.id) == [AccountsCoordinator.localID] && accounts.conversations === local)
        publish(.online)
        await eventually { accounts.rows.count == 3 && made.values.count == 2 }
        accounts.select(Self.ann.id)
        await eventually { accounts.selection == Self.ann.id }
        let first = accounts.conversations
        #expect(first !== local)
        accounts.select(Self.bo.id)
        #expect(accounts.conversations !== first && accounts.selectedRow.name == "bo")
        // Publishing an account again creates no new conversations.
        publish(.offline)
        await eventually { accounts.rows[1].condition == .offline }
        accounts.select(Self.ann.id)
        #expect(accounts.conversations === first && made.values == [Self.ann.id, Self.bo.id])
    }

    @Test func restartNeedsTheServiceAndNoWindow() async {
        let accounts = make()
        publish(.online)
        await eventually { made.values.count == 2 }
        #expect(await !accounts.mayRestart(losingUndo: false), "with a window")
        accounts.detachWindow()
        #expect(await accounts.mayRestart(losingUndo: false))
        service.isRestartable = false
        #expect(await !accounts.mayRestart(losingUndo: false))
    }

    @Test func restartNeedsAllVerificationsToBeOver() async {
        let encryption = FakeEncryptionService()
        let accounts = AccountsCoordinator(
            local: ConversationCoordinator(
                ConversationEnvironment(service: FakeChatService(), encryption: encryption)))
        accounts.detachWindow()
        #expect(await accounts.mayRestart(losingUndo: false))
        encryption.set([
            Verification(id: "1", user: MemberID("@bo:example.org"), isOwn: false, isIncoming: true, phase: .requested)
        ])
        await eventually { accounts.verifications.current != nil }
        #expect(await !accounts.mayRestart(losingUndo: false))
    }

    @Test("The setup is offered to the account that was just added, once, and only while its encryption needs it.")
    func setUpIsOffered() async {
        let encryption = FakeEncryptionService()
        let accounts = AccountsCoordinator(local: local, service: service, time: Timekeeper(clock)) { _, _ in
            ConversationCoordinator(ConversationEnvironment(service: FakeChatService(), encryption: encryption))
        }
        accounts.start(showing: AccountsCoordinator.localID)
        publish(.online)
        await eventually { accounts.rows.count == 3 }
        accounts.select(Self.ann.id)
        await eventually { accounts.selection == Self.ann.id }
        encryption.set(EncryptionStatus(condition: .on, identity: .none))
        await eventually { accounts.encryptionNeed == .setUp }
        #expect(!accounts.offersSetUp, "not added in this session")
        accounts.addedAccount = Self.bo.id
        #expect(!accounts.offersSetUp, "another account")
        accounts.addedAccount = Self.ann.id
        #expect(accounts.offersSetUp)
        publish(.offline)
        await eventually { accounts.selectedRow.condition == .offline }
        #expect(!accounts.offersSetUp, "not connected")
        publish(.online)
        await eventually { accounts.offersSetUp }
        encryption.set(EncryptionStatus(condition: .on, identity: .unconfirmed))
        await eventually { accounts.encryptionNeed == .confirmDevice }
        #expect(accounts.offersSetUp)
        encryption.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unsaved))
        await eventually { accounts.encryptionNeed == .saveRecoveryKey }
        #expect(!accounts.offersSetUp, "the banner is enough")
        encryption.set(EncryptionStatus(condition: .on, identity: .none))
        await eventually { accounts.offersSetUp }
        accounts.noteSetUpOffered()
        #expect(!accounts.offersSetUp)
    }

    @Test func restartWaitsForWhatCanBeUndone() async {
        let chats = FakeChatService()
        let coordinator = ConversationCoordinator(service: chats)
        let accounts = AccountsCoordinator(local: coordinator)
        coordinator.start(opening: nil)
        chats.publish([.of("plans", at: Fixtures.date)])
        await eventually { coordinator.rooms.state.isLoaded }
        coordinator.rooms.send(.select(RoomID("plans")))
        await eventually { coordinator.conversation?.composer.state.isReady == true }
        coordinator.conversation?.composer.handle(.insert("half", origin: .paste))
        accounts.detachWindow()
        #expect(await !accounts.mayRestart(losingUndo: false))
        #expect(await accounts.mayRestart(losingUndo: true))
    }

    @Test func lastSelectedAccountIsSelectedOnceLoaded() async {
        publish(.connecting)
        let accounts = make(showing: Self.bo.id)
        #expect(accounts.selection == AccountsCoordinator.localID)
        await eventually { accounts.selection == Self.bo.id }
    }

    @Test func removedAccountIsNotWaitedFor() async {
        publish(.online)
        let accounts = make(showing: "@gone:example.org")
        // The manual clock stands still: waiting would never return.
        await accounts.waitUntilIdle(within: .seconds(1))
        #expect(accounts.selection == AccountsCoordinator.localID)
    }

    @Test func removedAccountIsReplacedByTheLocalOne() async {
        publish(.online)
        let accounts = make(showing: Self.ann.id)
        await eventually { accounts.selection == Self.ann.id }
        await signOut(of: accounts)
        await eventually { accounts.selection == AccountsCoordinator.localID }
        #expect(accounts.rows.map(\.id) == [AccountsCoordinator.localID, Self.bo.id])
    }

    @Test("A room's window is restored with its account, and closed with it")
    func windowsGoWithTheirAccount() async {
        let (room, backend) = (RoomID("garden"), FakeChatService())
        let accounts = AccountsCoordinator(local: local, service: service, time: Timekeeper(clock)) { id, _ in
            guard id == Self.ann.id else { return nil }
            return Self.started(backend)
        }
        let window = AccountRoom(Self.ann.id, room)
        accounts.restoreWindows(of: [window])
        accounts.start(showing: AccountsCoordinator.localID)
        publish(.online)
        backend.publish([.of("garden", at: localTime(2026, 3, 10))])
        await eventually { accounts.roomWindows == [window] }
        #expect(accounts.selection == AccountsCoordinator.localID)
        #expect(accounts.window(of: window)?.conversation.roomID == room)
        await signOut(of: accounts)
        await eventually { accounts.roomWindows.isEmpty }
    }

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

    private static func started(_ service: FakeChatService) -> ConversationCoordinator {
        let coordinator = ConversationCoordinator(service: service)
        coordinator.start(opening: nil)
        return coordinator
    }

    /// Signs out, and confirms it.
    private func signOut(of accounts: AccountsCoordinator) async {
        let viewModel = accounts.signOut(Self.ann.id)!
        viewModel.start()
        await eventually { if case .confirming = viewModel.state.step { true } else { false } }
        viewModel.send(.confirm)
        await eventually { viewModel.state.step == .over }
    }

    @Test("An account is signed out once, and its row says so until the server answers")
    func signingOutIsShown() async {
        publish(.online)
        let accounts = make()
        await eventually { accounts.rows.count == 3 }
        let gate = Gate()
        service.signOutGate = gate
        service.signOutFailure = .unreachable(reason: "x")
        let viewModel = accounts.signOut(Self.ann.id)!
        #expect(viewModel.start())
        let again = accounts.signOut(Self.ann.id)
        #expect(again === viewModel && again?.start() == false)
        await eventually { if case .confirming = viewModel.state.step { true } else { false } }
        #expect(accounts.rows.map(\.isSigningOut) == [false, false, false])
        viewModel.send(.confirm)
        #expect(accounts.rows.map(\.isSigningOut) == [false, true, false])
        #expect(accounts.signOut(Self.ann.id) === viewModel)
        await eventually { gate.waiting == 1 }
        gate.open()
        await eventually { accounts.rows.map(\.isSigningOut) == [false, false, false] }
        #expect(viewModel.state.step == .failed(.unreachable(reason: "x")))
        #expect(service.calls.filter { $0.hasPrefix("signOut") } == ["signOut"])
        viewModel.send(.confirm)
        await eventually { accounts.rows.map(\.id) == [AccountsCoordinator.localID, Self.bo.id] }
    }

    @Test("A question about signing out that was lost with its window is asked again")
    func lostQuestionIsAskedAgain() async {
        publish(.online)
        let accounts = make()
        await eventually { accounts.rows.count == 3 }
        let lost = accounts.signOut(Self.ann.id)!
        lost.start()
        await eventually { if case .confirming = lost.state.step { true } else { false } }
        let viewModel = accounts.signOut(Self.ann.id)!
        #expect(viewModel !== lost && lost.state.step == .over && viewModel.start())
        await eventually { if case .confirming = viewModel.state.step { true } else { false } }
    }

    @Test("An account that cannot be opened can be signed out")
    func brokenAccountIsSignedOut() async {
        publish(.broken(reason: "x"))
        let accounts = make()
        await eventually { accounts.rows.count == 3 }
        #expect(accounts.rows.map(\.offersSignOut) == [false, true, false])
        await signOut(of: accounts)
        await eventually { accounts.rows.map(\.id) == [AccountsCoordinator.localID, Self.bo.id] }
    }

    @Test("A verification whose window closes without an answer is for another window")
    func verificationGoesToTheNextWindow() async throws {
        let (chats, encryption) = (FakeChatService(), FakeEncryptionService())
        let coordinator = ConversationCoordinator(ConversationEnvironment(service: chats, encryption: encryption))
        let accounts = AccountsCoordinator(local: coordinator)
        coordinator.start(opening: nil)
        chats.publish([.of("plans", at: Fixtures.date)])
        await eventually { coordinator.rooms.state.isLoaded }
        let window = AccountRoom(AccountsCoordinator.localID, RoomID("plans"))
        coordinator.openWindow(of: window.room)
        await eventually { accounts.roomWindows == [window] }
        encryption.set([
            Verification(id: "1", user: MemberID("@bo:example.org"), isOwn: false, isIncoming: true, phase: .requested)
        ])
        await eventually { accounts.verificationToPresent(in: nil) != nil }
        let verification = try #require(accounts.verifications.current)
        #expect(accounts.verificationToPresent(in: window) == nil, "the main window is open")
        verification.isPresented = true
        accounts.detachWindow()
        #expect(accounts.verificationToPresent(in: window) == nil, "a dialog is open")
        verification.isPresented = false
        #expect(accounts.verificationToPresent(in: window) === verification)
        #expect(accounts.verificationToPresent(in: nil) == nil, "there is no main window")
        accounts.noteClosingWindow(of: window)
        #expect(accounts.verificationToPresent(in: window) == nil)
        accounts.attachWindow()
        #expect(accounts.verificationToPresent(in: nil) === verification)
    }

    @Test func accountThatCannotBeOpenedIsNotSelected() async {
        publish(.broken(reason: "x"))
        let accounts = make()
        await eventually { accounts.rows.count == 3 && made.values == [Self.bo.id] }
        accounts.select(Self.ann.id)
        #expect(accounts.selection == AccountsCoordinator.localID && !accounts.rows[1].isOpen)
        // Once the account opens, the earlier selection takes effect.
        publish(.online)
        await eventually { accounts.selection == Self.ann.id }
    }

    @Test(arguments: [
        (AccountCondition.online, AccountsCoordinator.Banner?.none), (.offline, .offline),
        (.signedOut(isSoft: true), .signedOut(isSoft: true)), (.signedOut(isSoft: false), .signedOut(isSoft: false)),
        (.locked(.locked), .locked(.locked)),
    ])
    func bannerShowsTheConnectionProblem(condition: AccountCondition, banner: AccountsCoordinator.Banner?) async {
        publish(.online)
        let accounts = make(showing: Self.ann.id)
        await eventually { accounts.selection == Self.ann.id }
        publish(condition)
        await eventually { accounts.selectedRow.condition == condition }
        #expect(accounts.banner == banner)
        accounts.select(AccountsCoordinator.localID)
        #expect(accounts.banner == nil)
    }

    @Test func pendingMessagesSayThatTheyWaitForSignIn() async {
        let service = FakeChatService()
        let waiting = Message.of(1, by: Fixtures.own, delivery: .sending)
        service.openings[RoomID("room")] = .opened(
            TimelinePage(messages: [waiting, .of(2, by: Fixtures.own)], hasOlder: false), members: [Fixtures.own],
            fullyReadMarker: nil)
        let accounts = AccountsCoordinator(local: local, service: self.service, time: Timekeeper(clock)) {
            let coordinator = ConversationCoordinator(ConversationEnvironment(service: service, session: $1))
            coordinator.start(opening: nil)
            return coordinator
        }
        accounts.start(showing: Self.ann.id)
        self.service.publish([AccountState(account: Self.ann, condition: .online)])
        await eventually { accounts.selection == Self.ann.id }
        let coordinator = accounts.conversations
        service.publish([.of("room")])
        await eventually { coordinator.conversation?.timeline.state.isLoaded == true }
        var items: [MessageItem] { coordinator.conversation?.timeline.rows.compactMap(\.message) ?? [] }
        #expect(items.map(\.waitsForSignIn) == [false, false])
        self.service.publish([AccountState(account: Self.ann, condition: .signedOut(isSoft: false))])
        // Which messages are waiting is not observable state, but the rows are.
        while items.map(\.waitsForSignIn) != [true, false] { await Task.yield() }
        self.service.publish([AccountState(account: Self.ann, condition: .online)])
        while items.map(\.waitsForSignIn) != [false, false] { await Task.yield() }
    }

    @Test("A room is found by its name in any account, once the accounts are open")
    func roomIsOpenedByName() async {
        let service = FakeChatService()
        let accounts = AccountsCoordinator(local: local, service: self.service, time: Timekeeper(clock)) {
            let coordinator = ConversationCoordinator(ConversationEnvironment(service: service, session: $1))
            coordinator.start(opening: nil)
            return coordinator
        }
        accounts.start(showing: AccountsCoordinator.localID)
        accounts.openRoom(named: "ROOM GARDEN")
        self.service.publish([AccountState(account: Self.ann, condition: .online)])
        service.publish([.of("other"), .of("garden")])
        await eventually { accounts.selection == Self.ann.id }
        #expect(accounts.conversations.rooms.state.selection == RoomID("garden"))
        #expect(accounts.conversations.requests.state.pending.isEmpty)
    }

    @Test func unknownRoomNameShowsAToast() async {
        let accounts = make()
        accounts.openRoom(named: "Nowhere")
        await clock.waitForSleepers()
        clock.advance(by: .seconds(3))
        await eventually { !local.requests.state.pending.isEmpty }
        #expect(
            local.requests.state.pending.map(\.request) == [.show(.message("No room is named “Nowhere”"))])
    }

    @Test(arguments: [
        "#garden:example.org", "@ann:example.org", "!r:example.org", "matrix:r/a:b", "https://matrix.to/#/%23a",
    ])
    func addressIsNoRoomName(text: String) { #expect(OpenTarget(text) == .address(text)) }

    @Test(arguments: ["Garden", "#garden", "12:30", "@home"])
    func anythingElseIsARoomName(text: String) { #expect(OpenTarget(text) == .room(text)) }

    /// A brief reconnection shows no banner.
    @Test func connectingBannerIsDelayed() async {
        publish(.connecting)
        let accounts = make(showing: Self.ann.id)
        await eventually { accounts.selection == Self.ann.id }
        #expect(accounts.banner == nil)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(3))
        await eventually { accounts.banner == .connecting }
        publish(.online)
        await eventually { accounts.banner == nil }
    }
}
