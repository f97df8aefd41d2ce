import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

/// Encryption of new rooms, and turning encryption on in existing ones.
@MainActor @Suite(.timeLimit(.minutes(10))) struct RoomEncryptionTests {
    private let service = FakeChatService()
    private let room = RoomID("room")

    private func newRoom(_ condition: EncryptionCondition, _ service: FakeUserDirectory) -> NewRoomViewModel {
        NewRoomViewModel(service: service, ownUserID: MemberID("@me:example.org"), encryption: { condition })
    }

    @Test("A private room is encrypted unless the user chooses otherwise, a public one is not")
    func newRooms() async {
        let requests: [([NewRoomViewModel.Action], RoomRequest)] = [
            ([], RoomRequest(name: "Garden", isEncrypted: true)),
            ([.setEncrypted(false)], RoomRequest(name: "Garden", isEncrypted: false)),
            ([.setPublic(true)], RoomRequest(name: "Garden", address: "garden", isEncrypted: false)),
            // A choice made while encryption is unavailable is ignored.
            ([.setPublic(true), .setEncrypted(false), .setPublic(false)], RoomRequest(name: "Garden")),
        ]
        for (actions, request) in requests {
            let directory = FakeUserDirectory()
            let viewModel = newRoom(.on, directory)
            viewModel.send(.name("Garden"))
            for action in actions { viewModel.send(action) }
            #expect(viewModel.state.canChooseEncryption == !viewModel.state.isPublic)
            viewModel.send(.create)
            await eventually { viewModel.state.isCreated }
            #expect(directory.calls == [.create(request)])
        }
    }

    @Test("While the account cannot encrypt, no private room is created unless the user turns encryption off")
    func withoutKeys() async {
        let problems: [EncryptionCondition.Problem] = [
            .locked(.locked), .credentialLost, .missing, .damaged(reason: "x"), .replaced, .noDevice,
            .storage(reason: "x"),
        ]
        let ordinary = newRoom(.on, FakeUserDirectory()).state.encryptionText(.untranslated)
        for problem in problems {
            let directory = FakeUserDirectory()
            let viewModel = newRoom(.off(problem), directory)
            viewModel.send(.name("Garden"))
            #expect(viewModel.state.isEncrypted && !viewModel.state.canCreate)
            #expect(viewModel.state.encryptionText(.untranslated) != ordinary)
            viewModel.send(.create)
            #expect(!viewModel.state.isCreating)
            viewModel.send(.setPublic(true))
            #expect(viewModel.state.canCreate)
            viewModel.send(.setPublic(false))
            #expect(!viewModel.state.canCreate)
            viewModel.send(.setEncrypted(false))
            viewModel.send(.create)
            await eventually { viewModel.state.isCreated }
            #expect(directory.calls == [.create(RoomRequest(name: "Garden", isEncrypted: false))])
        }
    }

    @Test("A program without encryption creates private rooms that are not encrypted, and says so")
    func withoutEncryption() {
        let viewModel = newRoom(.off(.notBuilt), FakeUserDirectory())
        viewModel.send(.name("Garden"))
        viewModel.send(.setEncrypted(true))
        #expect(!viewModel.state.isEncrypted && !viewModel.state.canChooseEncryption && viewModel.state.canCreate)
        let text = viewModel.state.encryptionText(.untranslated)
        #expect(text == "This version of Parlance was built without encryption")
    }

    @Test("Once the keys are available, a private room can be created")
    func unlocked() async {
        let session = AccountSession()
        let account = Account(id: "@me:example.org", kind: "matrix", server: "https://x", device: "D", name: "Me")
        session.apply(AccountState(account: account, condition: .locked(.locked)))
        let viewModel = NewRoomViewModel(
            service: FakeUserDirectory(), ownUserID: MemberID(account.id), encryption: { session.encryption })
        viewModel.send(.name("Garden"))
        #expect(!viewModel.state.canCreate)
        #expect(viewModel.state.encryptionText(.untranslated) == "Unlock the keyring to create an encrypted room")
        session.apply(AccountState(account: account, condition: .online, encryption: .on))
        await eventually { viewModel.state.canCreate }
        #expect(viewModel.state.isEncrypted)
    }

    @Test("While it is unknown whether the account can encrypt, encryption is offered")
    func unknownCondition() {
        // While the condition is unknown, encryption is offered: the backend refuses it if it is impossible.
        #expect(newRoom(.none, FakeUserDirectory()).state.isEncrypted)
    }

    private func details(
        _ condition: EncryptionCondition = .on, permissions: RoomMembers.Permissions = [.encrypt]
    ) -> RoomDetailsViewModel {
        service.capabilities = [.memberList]
        service.rosters = { _ in RoomMembers(entries: [], permissions: permissions) }
        return RoomDetailsViewModel(room: room, name: "Room", service: service, encryption: condition)
    }

    @Test("Encryption and a rule that wait for their turn are set although the dialog is closed")
    func pendingActionsOutliveTheDialog() async {
        let gate = Gate()
        service.before = { if case .rename = $0 { await gate.pass() } }
        weak var abandoned: RoomDetailsViewModel?
        do {
            let viewModel = details()
            abandoned = viewModel
            viewModel.start()
            await eventually { viewModel.state.canEncrypt }
            viewModel.send(.rename("New"))
            await eventually { gate.waiting == 1 }
            viewModel.send(.notify(.mentions))
            viewModel.send(.encrypt)
            viewModel.abandon()
        }
        #expect(abandoned == nil)
        gate.open()
        await eventually { [service, room] in service.calls.contains(.encrypt(room)) }
        #expect(service.calls.contains(.notify(.mentions, room)))
    }

    @Test("Encryption is offered to members who may turn it on, and stays on")
    func turningOn() async {
        let viewModel = details()
        #expect(!viewModel.state.canEncrypt)
        viewModel.start()
        await eventually { viewModel.state.canEncrypt }
        service.before = { _ in throw ChatError.notPermitted }
        viewModel.send(.encrypt)
        await eventually { viewModel.state.error == .notPermitted }
        #expect(viewModel.state.canEncrypt && viewModel.state.isEncrypted == false)
        service.before = { _ in }
        viewModel.send(.encrypt)
        viewModel.send(.encrypt)
        #expect(viewModel.state.isEncrypting && !viewModel.state.canEncrypt)
        await eventually { viewModel.state.isEncrypted == true }
        #expect(!viewModel.state.isEncrypting && service.calls.filter { $0 == .encrypt(room) }.count == 2)
        viewModel.send(.encrypt)
        await waitUntilIdle()
        #expect(service.calls.filter { $0 == .encrypt(room) }.count == 2)
        #expect(viewModel.state.encryptionTitle(.untranslated) == "Encrypted")
    }

    @Test("Encryption is not offered without permission or keys, nor if it is on or unknown")
    func notOffered() async {
        for make in [{ details(permissions: [.rename]) }, { details(.off(.missing)) }, { details(.none) }] {
            let viewModel = make()
            viewModel.start()
            await eventually { viewModel.state.isEncrypted == false && !viewModel.state.isLoading }
            #expect(!viewModel.state.canEncrypt)
        }
        service.encryption = { _ in throw ChatError.unreachable }
        let unknown = details()
        unknown.start()
        await eventually { !unknown.state.isLoading }
        await waitUntilIdle()
        #expect(unknown.state.isEncrypted == nil && !unknown.state.canEncrypt)
        service.encryption = { _ in false }
        let other = details()
        other.start()
        await eventually { other.state.canEncrypt }
        // Another member turns it on.
        service.publish(.encrypted, in: room)
        await eventually { other.state.isEncrypted == true }
        #expect(!other.state.canEncrypt)
    }
}

/// Reactions are not encrypted, even in encrypted rooms.
@MainActor @Suite(.timeLimit(.minutes(10))) final class EncryptedReactionTests: CoordinatorHarness {
    private let chosen = Recorder<ReactionPreferences>()
    private let effects = Recorder<TimelineViewModel.Effect>()

    private func start(encrypted: Bool) async -> Conversation {
        service.capabilities = [.reactions]
        service.encryption = { _ in encrypted }
        let conversation = await start()
        conversation.preferences.onReactionsChosen = { [chosen] in chosen.record($0) }
        conversation.timeline.subscribe { [effects] in effects.record($0) }
        await eventually { conversation.isEncrypted == encrypted }
        return conversation
    }

    private var question: ReactionQuestion? {
        for case .askBeforeReacting(let question) in effects.values.reversed() { return question }
        return nil
    }

    private func reactions() -> [FakeChatService.Call] {
        service.calls.filter { if case .react = $0 { true } else { false } }
    }

    private func react(_ text: String, in conversation: Conversation) {
        conversation.timeline.send(.message(MessageID("m1"), .react(text)))
    }

    private func canReact(in conversation: Conversation) -> Bool? {
        conversation.timeline.items.compactMap(\.message).first?.canReact
    }

    @Test("The explanation is shown once, before the first reaction")
    func told() async throws {
        let conversation = await start(encrypted: true)
        react("👍", in: conversation)
        let asked = try #require(question)
        #expect(asked.action(for: .cancel) == nil && reactions().isEmpty && chosen.values.isEmpty)
        conversation.timeline.send(try #require(asked.action(for: .react)))
        await eventually { self.reactions() == [.react("👍", MessageID("m1"), isAdded: true)] }
        #expect(chosen.values == [ReactionPreferences(areUsedInEncryptedRooms: true, isExplained: true)])
        let count = effects.values.count
        await waitUntilIdle()
        react("❤️", in: conversation)
        await eventually { self.reactions().count == 2 }
        #expect(!effects.values.dropFirst(count).contains { if case .askBeforeReacting = $0 { true } else { false } })
    }

    @Test("After declining, encrypted rooms have no reaction buttons, until the preferences allow them")
    func declined() async throws {
        let conversation = await start(encrypted: true)
        #expect(canReact(in: conversation) == true)
        react("👍", in: conversation)
        let asked = try #require(question)
        conversation.timeline.send(try #require(asked.action(for: .never)))
        #expect(chosen.values == [ReactionPreferences(areUsedInEncryptedRooms: false, isExplained: true)])
        await eventually { self.canReact(in: conversation) == false }
        react("👍", in: conversation)
        await waitUntilIdle()
        #expect(reactions().isEmpty)
        conversation.preferences.reactions.areUsedInEncryptedRooms = true
        await eventually { self.canReact(in: conversation) == true }
    }

    @Test("Until it is confirmed that a room is not encrypted, its reactions are asked about; again after each loss")
    func unconfirmed() async {
        service.confirmingUnencrypted = { throw ChatError.unreachable }
        let conversation = await start(encrypted: false)
        await waitUntilIdle()
        react("👍", in: conversation)
        await waitUntilIdle()
        #expect(question != nil && reactions().isEmpty && conversation.acceptsMessages)
        let session = coordinator.environment.session
        service.confirmingUnencrypted = { true }
        session.isOnline = true
        await waitUntilIdle()
        conversation.preferences.reactions.areUsedInEncryptedRooms = false
        await waitUntilIdle()
        #expect(canReact(in: conversation) == true)
        session.isOnline = false
        await eventually { self.canReact(in: conversation) == false }
        service.confirmingUnencrypted = { false }
        session.isOnline = true
        await eventually { conversation.isEncrypted }
    }

    @Test("Unencrypted rooms are unaffected; a room that may be encrypted counts as encrypted")
    func otherRooms() async {
        let conversation = await start(encrypted: false)
        conversation.preferences.reactions.areUsedInEncryptedRooms = false
        await waitUntilIdle()
        #expect(canReact(in: conversation) == true)
        react("👍", in: conversation)
        await eventually { self.reactions().count == 1 }
        service.encryption = { _ in throw ChatError.unreachable }
        let unknown = await open(b)
        await eventually { !unknown.acceptsMessages }
        #expect(canReact(in: unknown) == false)
    }
}
