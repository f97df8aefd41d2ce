import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct IdentityTests {
    private static let bo = MemberID("@bo:example.org")
    private static let cy = MemberID("@cy:example.org")
    private static let room = RoomID("!plans:example.org")
    private static let key = IdentityKey("new")

    private let service = FakeEncryptionService()
    private let text = IdentityText(.untranslated)

    private func coordinator(_ identity: EncryptionStatus.Identity = .confirmed) async -> EncryptionCoordinator {
        service.set(EncryptionStatus(condition: .on, identity: identity))
        let encryption = EncryptionCoordinator(service) { $0 == Self.bo ? "Bo" : $0.rawValue }
        await eventually { encryption.status?.identity == identity }
        return encryption
    }

    // MARK: One user

    @Test(
        "The possible actions follow from the identity.",
        arguments: [
            (UserIdentity.unknown, false, false, false), (.none, false, false, false),
            (.unverified, true, false, false),
            (.changed(to: IdentityKey("new")), true, true, false),
            (.changedAfterVerification(to: IdentityKey("new")), true, true, false),
            (.verified, false, false, true),
        ])
    func choices(identity: UserIdentity, verify: Bool, accept: Bool, withdraw: Bool) async {
        let encryption = await coordinator()
        let viewModel = encryption.identity(of: Self.bo)
        service.set(identity, of: Self.bo)
        await eventually { viewModel.state.identity == identity && viewModel.state.isDeviceConfirmed }
        let state = viewModel.state
        #expect(state.canVerify == verify && state.canAccept == accept && state.canWithdraw == withdraw)
        #expect(!text.title(state).isEmpty && text.explanation(state).contains("Bo"))
        viewModel.send(.verify)
        viewModel.send(.accept(Self.key))
        viewModel.send(.withdraw)
        await waitUntilIdle()
        // Only the first possible action is performed; the others find the view model busy.
        let expected = verify ? ["verify"] : withdraw ? ["withdrawVerification"] : []
        #expect(service.calls == expected.map { "\($0) \(Self.bo.rawValue)" })
        withExtendedLifetime(encryption) {}
    }

    @Test("An identity that has changed once more since the question is not accepted.")
    func changedDuringQuestion() async {
        let encryption = await coordinator()
        let viewModel = encryption.identity(of: Self.bo)
        service.set(UserIdentity.changedAfterVerification(to: Self.key), of: Self.bo)
        await eventually { viewModel.state.identity.newKey == Self.key }
        let later = IdentityKey("later")
        service.set(UserIdentity.changedAfterVerification(to: later), of: Self.bo)
        await eventually { viewModel.state.identity.newKey == later }
        viewModel.send(.accept(Self.key))
        #expect(viewModel.state.error == .otherIdentity && viewModel.state.canAccept && service.calls.isEmpty)
        // The service may know of a change that has not been shown yet.
        service.fail("acceptIdentity", with: .otherIdentity)
        viewModel.send(.accept(later))
        #expect(viewModel.state.error == nil)
        await eventually { viewModel.state.error == .otherIdentity && !viewModel.state.isBusy }
        viewModel.send(.accept(later))
        await eventually { viewModel.state.error == nil && !viewModel.state.isBusy }
        #expect(service.calls == Array(repeating: "acceptIdentity \(Self.bo.rawValue) later", count: 2))
        withExtendedLifetime(encryption) {}
    }

    @Test("An unconfirmed device cannot verify users.")
    func unconfirmedDevice() async {
        let encryption = await coordinator(.unconfirmed)
        let viewModel = encryption.identity(of: Self.bo)
        service.set(UserIdentity.unverified, of: Self.bo)
        await eventually { viewModel.state.identity == .unverified }
        #expect(!viewModel.state.canVerify)
        #expect(text.explanation(viewModel.state) == "Confirm this device to verify Bo.")
        withExtendedLifetime(encryption) {}
    }

    @Test(
        "While this device's keys cannot be used, the reason is shown instead of the server's silence.",
        arguments: [
            EncryptionCondition.Problem.locked(.locked), .credentialLost, .missing, .damaged(reason: "x"), .noDevice,
            .storage(reason: "x"), .notBuilt,
        ])
    func unusableKeys(problem: EncryptionCondition.Problem) async {
        let encryption = await coordinator(.unknown)
        let viewModel = encryption.identity(of: Self.bo)
        #expect(text.explanation(viewModel.state).hasPrefix("The server has not reported yet "))
        service.set(EncryptionStatus(condition: .off(problem)))
        await eventually { viewModel.state.problem == problem }
        #expect(text.explanation(viewModel.state) == EncryptionText(.untranslated).text(for: problem))
        #expect(text.title(viewModel.state) == "Encryption Not Available" && !viewModel.state.canVerify)
        withExtendedLifetime(encryption) {}
    }

    @Test("With a locked keyring, the keys are not even tried: the account says why, in the preferences, too.")
    func lockedKeyring() async {
        let session = AccountSession()
        let encryption = EncryptionCoordinator(service, session: session) { $0.rawValue }
        let viewModel = encryption.identity(of: Self.bo)
        let preferences = encryption.preferences(account: "@ann:example.org", name: "Ann")
        await eventually { preferences.state.status == EncryptionStatus() }
        let account = Account(id: "@ann:example.org", kind: "matrix", server: "https://x", device: "D", name: "Ann")
        session.apply(AccountState(account: account, condition: .locked(.locked)))
        await eventually { viewModel.state.problem == .locked(.locked) }
        #expect(text.explanation(viewModel.state) == "Unlock the keyring to use encryption.")
        await eventually { preferences.state.status?.condition == .off(.locked(.locked)) }
        let summary = EncryptionText(.untranslated).summary(preferences.state.status)
        #expect(summary == "Unlock the keyring to use encryption.")
        session.apply(AccountState(account: account, condition: .connecting))
        await eventually { viewModel.state.problem == nil && preferences.state.status?.condition == .some(.none) }
        // What the service reports counts for more.
        service.set(EncryptionStatus(condition: .on))
        session.apply(AccountState(account: account, condition: .locked(.locked)))
        await eventually { preferences.state.status?.condition == .on && viewModel.state.problem == nil }
    }

    @Test("A failure is shown.")
    func failure() async {
        service.fail("verify", with: .noRoom)
        let encryption = await coordinator()
        let viewModel = encryption.identity(of: Self.bo)
        service.set(UserIdentity.unverified, of: Self.bo)
        await eventually { viewModel.state.canVerify }
        viewModel.send(.verify)
        await eventually { viewModel.state.error == .noRoom && !viewModel.state.isBusy }
        withExtendedLifetime(encryption) {}
    }

    // MARK: A room

    @Test("The most urgent notice comes first.")
    func notices() async {
        let encryption = await coordinator()
        let viewModel = RoomTrustViewModel(Self.room, of: encryption) { [] }
        #expect(viewModel.state.notice == nil)
        service.set(RoomTrust(withoutIdentity: [Self.cy]), of: Self.room)
        await eventually { viewModel.state.notice == .withoutIdentity([Self.cy]) }
        #expect(viewModel.state.notice?.isProblem == false)
        service.set(RoomTrust(changed: [Self.bo, Self.cy], withoutIdentity: [Self.cy]), of: Self.room)
        await eventually { viewModel.state.notice == .changed(Self.bo, others: 1) }
        service.set(RoomTrust(changed: [Self.bo], holding: [Self.bo]), of: Self.room)
        await eventually { viewModel.state.notice == .holding(Self.bo, others: 0) }
        #expect(viewModel.state.notice?.isProblem == true)
        service.set(RoomTrust(changed: [Self.bo], holding: [Self.bo], isOwnReplaced: true), of: Self.room)
        await eventually { viewModel.state.notice == .ownReplaced }
        #expect(viewModel.state.notice?.isProblem == true)
    }

    @Test("The button leads to where the warning is solved: one's own identity has to confirm this device.")
    func noticeButtons() async throws {
        let encryption = await coordinator(.replaced)
        let conversation = conversation(encryption)
        let trust = try #require(conversation.trust)
        func requests() -> [WindowRequests.Request] { conversation.requests.state.pending.map(\.request) }
        service.set(RoomTrust(isOwnReplaced: true), of: Self.room)
        await eventually { trust.state.notice == .ownReplaced }
        conversation.answerTrustNotice(.ownReplaced)
        #expect(requests() == [.setUpEncryption])
        #expect(encryption.need == .confirmDevice)
        service.set(RoomTrust(changed: [Self.bo], holding: [Self.bo]), of: Self.room)
        await eventually { trust.state.notice == .holding(Self.bo, others: 0) }
        conversation.answerTrustNotice(.holding(Self.bo, others: 0))
        #expect(requests() == [.setUpEncryption, .showIdentity(Self.bo)])
        service.set(RoomTrust(withoutIdentity: [Self.cy]), of: Self.room)
        await eventually { trust.state.notice == .withoutIdentity([Self.cy]) }
        conversation.answerTrustNotice(.withoutIdentity([Self.cy]))
        #expect(trust.state.notice == nil)
    }

    @Test("The button answers the warning that the user saw, although another one has replaced it.")
    func formerNotice() async throws {
        let encryption = await coordinator()
        let conversation = conversation(encryption)
        let trust = try #require(conversation.trust)
        service.set(RoomTrust(withoutIdentity: [Self.cy, Self.bo]), of: Self.room)
        await eventually { trust.state.notice == .withoutIdentity([Self.cy, Self.bo]) }
        conversation.answerTrustNotice(.withoutIdentity([Self.cy]))
        #expect(trust.state.notice == .withoutIdentity([Self.cy, Self.bo]), "nobody has read of the other one")
        conversation.answerTrustNotice(.changed(Self.cy, others: 0))
        #expect(conversation.requests.state.pending.map(\.request) == [.showIdentity(Self.cy)])
        #expect(trust.state.notice == .withoutIdentity([Self.cy, Self.bo]))
    }

    @Test("In the main window the banner above the room list has the mnemonic of the same button")
    func noticeMnemonic() {
        #expect(EncryptionText(.untranslated).banner(.confirmDevice).action == "_Confirm…")
        #expect(text.button(.ownReplaced, isInOwnWindow: false) == "Confirm…")
        #expect(text.button(.ownReplaced, isInOwnWindow: true) == "_Confirm…", "without that banner")
    }

    @Test("Members who cannot read are reported once, and again when others are added, but not when one leaves.")
    func shownOnce() async {
        let encryption = await coordinator()
        let viewModel = RoomTrustViewModel(Self.room, of: encryption) { [] }
        service.set(RoomTrust(withoutIdentity: [Self.cy]), of: Self.room)
        await eventually { viewModel.state.notice != nil }
        viewModel.send(.acknowledge([Self.cy]))
        #expect(viewModel.state.notice == nil)
        // Reopening the room does not repeat the notice.
        let again = RoomTrustViewModel(Self.room, of: encryption) { [] }
        await eventually { again.state.trust.withoutIdentity == [Self.cy] }
        #expect(again.state.notice == nil)
        service.set(RoomTrust(withoutIdentity: [Self.cy, Self.bo]), of: Self.room)
        await eventually { again.state.notice == .withoutIdentity([Self.cy, Self.bo]) }
        again.send(.acknowledge([Self.cy, Self.bo]))
        service.set(RoomTrust(withoutIdentity: [Self.bo]), of: Self.room)
        await eventually { again.state.trust.withoutIdentity == [Self.bo] }
        #expect(again.state.notice == nil)
        service.set(RoomTrust(), of: Self.room)
        await eventually { again.state.trust.withoutIdentity.isEmpty }
        #expect(again.state.notice == nil)
    }

    @Test("Notices name the members, up to five.")
    func texts() {
        let users = (1...7).map { MemberID("@\($0):x") }
        let name: (MemberID) -> String = { String($0.rawValue.dropFirst().prefix(1)) }
        #expect(text.notice(.withoutIdentity(Array(users.prefix(2))), name).hasSuffix(": 1, 2"))
        #expect(text.notice(.withoutIdentity(users), name).hasSuffix(": 1, 2, 3, 4, 5, and 2 others"))
        #expect(text.notice(.holding(users[0], others: 0), name).hasPrefix("Messages are not sent: the identity of 1 "))
        #expect(text.notice(.changed(users[0], others: 2), name).contains("1 and 2 others"))
    }

    // MARK: Messages

    private func conversation(_ encryption: EncryptionCoordinator) -> Conversation {
        let environment = ConversationEnvironment(service: FakeChatService())
        let composer = ConversationCoordinator(environment).makeConversation(in: Self.room, requests: WindowRequests())
            .composer
        return Conversation(
            roomID: Self.room, composer: composer, environment: environment, encryption: encryption,
            requests: WindowRequests(), onTimelineOutput: { _ in })
    }

    @Test("Sealed messages offer an action that helps.")
    func sealHelp() async {
        let encryption = await coordinator(.unconfirmed)
        let conversation = conversation(encryption)
        let help: [SealReason: SealHelp] = [
            .beforeSignIn: .restoreKeys, .beforeKey: .restoreKeys, .unconfirmedDevice: .confirmDevice,
            .keysLocked: .retry,
        ]
        for seal in SealReason.allCases { #expect(conversation.help(for: seal) == help[seal]) }
        #expect(conversation.sealHelp == help)
        conversation.help(.confirmDevice)
        #expect(conversation.requests.state.pending.map(\.request) == [.setUpEncryption])
        service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
        await eventually { encryption.need == nil }
        #expect(conversation.help(for: .beforeSignIn) == nil && conversation.help(for: .keysLocked) == .retry)
        // The backup may have these, once its key is here.
        service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready, lacksBackupKey: true))
        await eventually { conversation.help(for: .noKey) == .restoreKeys }
        #expect(conversation.help(for: .beforeSignIn) == .restoreKeys && conversation.help(for: .withheld) == nil)
        #expect(encryption.need == nil && encryption.setUp()?.state.need == .enterRecoveryKey)
        // The rows are shown again when this changes.
        let restored: [SealReason: SealHelp] = [
            .noKey: .restoreKeys, .beforeSignIn: .restoreKeys, .beforeKey: .restoreKeys, .keysLocked: .retry,
        ]
        #expect(conversation.sealHelp == restored)
        service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .none, lacksBackupKey: true))
        await eventually { conversation.sealHelp == [.keysLocked: .retry] }
        // These keys can be opened again once there is space on the disk.
        service.set(EncryptionStatus(condition: .off(.storage(reason: "full"))))
        await eventually { conversation.sealHelp == [.keysLocked: .retry, .keysUnavailable: .retry] }
        service.set(EncryptionStatus(condition: .off(.credentialLost)))
        await eventually { conversation.help(for: .keysUnavailable) == nil }
        let retries = Recorder<Int>()
        conversation.session.retry = { retries.record(1) }
        conversation.help(.retry)
        #expect(retries.values == [1])
    }

    @Test("Marks have texts, also for screen readers, and disappear with a deleted message.")
    func marks() {
        let text = MessageText(.untranslated, time: { _ in "9:00" }, fullDate: { _ in "Monday" })
        for trust in MessageTrust.allCases {
            var message = Fixtures.message(1, in: "r", text: "Tea?")
            message.trust = trust
            var item = MessageItem(message: message, senderName: "Bo", isOwn: false, startsGroup: true, endsGroup: true)
            #expect(text.tooltip(item) == "Monday\n" + text.trust(trust))
            #expect(text.accessibleText(item).contains(text.trust(trust)))
            #expect(!text.explanation(trust).isEmpty && !trust.iconName.isEmpty)
            item.message.isDeleted = true
            #expect(item.visibleTrust == nil)
        }
        #expect(!MessageTrust.unproven.isProblem && MessageTrust.notEncrypted.isProblem)
    }

    @Test("The header and the composer indicate an encrypted room.")
    func header() {
        let header = ConversationHeader(name: "Plans", kind: .group, isEncrypted: true)
        #expect(header.placeholder(.untranslated) == "Encrypted message…")
        #expect(header.accessibleTitle(.untranslated).hasSuffix(", Encrypted"))
    }
}
