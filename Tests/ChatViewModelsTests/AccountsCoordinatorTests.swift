import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Observation
import Testing

@testable import ChatViewModels

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct AccountsCoordinatorTests: AccountsSuite {
    let service = FakeAccountService()
    let clock = ManualClock()
    let local = ConversationCoordinator(service: FakeChatService())
    let made = Recorder<String>()

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

    @Test("The window of an account tells who has removed the user from one of its rooms")
    func removals() async {
        let chats = FakeChatService()
        let accounts = AccountsCoordinator(local: local, service: service, time: Timekeeper(clock)) { id, _ in
            id == Self.ann.id ? ConversationCoordinator(service: chats) : nil
        }
        accounts.start(showing: Self.ann.id)
        publish(.online)
        let removal = RoomRemoval(
            room: RoomID("r"), roomName: "Garden", kind: .banned, actor: MemberID("bo"), actorName: "Bo", reason: nil)
        chats.removals.continuation.yield(removal)
        await eventually { accounts.conversations.toasts == [.removed(removal)] }
        #expect(local.toasts.isEmpty)
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

    @Test("A message changes the account's unread count, and has no banner derived again")
    func bannersDependOnNoRoom() async {
        let chats = FakeChatService()
        let accounts = AccountsCoordinator(local: Self.started(chats), service: service, time: Timekeeper(clock))
        accounts.start(showing: AccountsCoordinator.localID)
        publish(.offline)
        chats.publish([.of("plans")])
        await eventually { accounts.local.rooms.state.isLoaded && accounts.isListed(Self.ann.id) }
        accounts.addedAccount = AccountsCoordinator.localID
        let changes = Recorder<String>()
        withObservationTracking {
            _ = (accounts.banner, accounts.encryptionNeed, accounts.offersSetUp)
        } onChange: {
            MainActor.assumeIsolated { changes.record("banner") }
        }
        withObservationTracking {
            _ = accounts.rows
        } onChange: {
            MainActor.assumeIsolated { changes.record("rows") }
        }
        chats.publish([.of("plans", unread: 2)])
        await eventually { accounts.rows[0].unreadCount == 2 }
        #expect(changes.values == ["rows"])
        publish(.online)
        await eventually { accounts.rows[1].condition == .online }
        #expect(changes.values == ["rows", "banner"])
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

    private static let request = Verification(
        id: "1", user: MemberID("@bo:example.org"), isOwn: false, isIncoming: true, phase: .requested)

    /// Opens a room's own window beside the main window.
    private func openWindow(_ encryption: FakeEncryptionService) async -> (AccountsCoordinator, AccountRoom) {
        let chats = FakeChatService()
        let coordinator = ConversationCoordinator(ConversationEnvironment(service: chats, encryption: encryption))
        let accounts = AccountsCoordinator(local: coordinator)
        coordinator.start(opening: nil)
        chats.publish([.of("plans", at: Fixtures.date)])
        await eventually { coordinator.rooms.state.isLoaded }
        let window = AccountRoom(AccountsCoordinator.localID, RoomID("plans"))
        coordinator.openWindow(of: window.room)
        await eventually { accounts.roomWindows == [window] }
        return (accounts, window)
    }

    @Test("A verification is for the window that was active last, whether or not a dialog covers it")
    func verificationGoesToTheWindowInUse() async {
        let encryption = FakeEncryptionService()
        let (accounts, window) = await openWindow(encryption)
        accounts.noteUse(true, ofWindowOf: window)
        accounts.attend(true, inWindowOf: window)
        // A dialog opens over it.
        accounts.attend(false, inWindowOf: window)
        encryption.set([Self.request])
        await eventually { accounts.verificationToPresent(in: window) != nil }
        #expect(accounts.verificationToPresent(in: nil) == nil && accounts.attendedRoom == nil)
        accounts.noteUse(true, ofWindowOf: nil)
        #expect(accounts.verificationToPresent(in: nil) != nil && accounts.verificationToPresent(in: window) == nil)
        // Another window that closes leaves it in use.
        accounts.noteUse(true, ofWindowOf: window)
        accounts.noteUse(false, ofWindowOf: nil)
        #expect(accounts.verificationToPresent(in: window) != nil && accounts.verificationToPresent(in: nil) == nil)
        accounts.noteUse(false, ofWindowOf: window)
        #expect(accounts.verificationToPresent(in: nil) != nil && accounts.verificationToPresent(in: window) == nil)
    }

    @Test("A verification whose window closes without an answer is for another window")
    func verificationGoesToTheNextWindow() async throws {
        let encryption = FakeEncryptionService()
        let (accounts, window) = await openWindow(encryption)
        encryption.set([Self.request])
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

    @Test("With a locked keyring, the keys of an account's encryption are locked, too.")
    func lockedKeyringLocksTheKeys() async {
        let encryption = FakeEncryptionService()
        let accounts = AccountsCoordinator(local: local, service: service, time: Timekeeper(clock)) {
            ConversationCoordinator(
                ConversationEnvironment(service: FakeChatService(), session: $1, encryption: encryption))
        }
        func condition(of account: Account) -> EncryptionCondition? {
            accounts.coordinator(of: account.id)?.encryption?.status?.condition
        }
        accounts.start(showing: AccountsCoordinator.localID)
        publish(.locked(.locked))
        await eventually { condition(of: Self.ann) == .off(.locked(.locked)) }
        await eventually { condition(of: Self.bo) == .some(.none) }
        publish(.online)
        await eventually { condition(of: Self.ann) == .some(.none) }
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

    @Test func notificationOfASignedOutAccountIsIgnored() async {
        let target = NotificationTarget(account: "@gone:example.org", room: RoomID("plans"))
        publish(.online)
        let accounts = make()
        accounts.show(target)
        #expect(accounts.isWaiting, "the accounts are not known yet")
        await eventually { accounts.rows.count == 3 }
        #expect(!accounts.isWaiting)
        accounts.show(target)
        #expect(!accounts.isWaiting && accounts.displayed != nil)
    }

    @Test("An account that is removed while it is requested is not waited for, one that was just added is")
    func requestedAccountThatIsNotListed() async {
        publish(.broken(reason: "x"))
        let accounts = make()
        await eventually { accounts.rows.count == 3 }
        accounts.select(Self.ann.id)
        #expect(accounts.isWaiting)
        await signOut(of: accounts)
        await eventually { !accounts.isWaiting }
        accounts.select("@new:example.org")
        accounts.addedAccount = "@new:example.org"
        service.publish([AccountState(account: Self.bo, condition: .offline)])
        await eventually { accounts.rows.last?.condition == .offline }
        #expect(accounts.isWaiting)
    }

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
