import ChatCore
import ChatTestSupport
import ComposerSessions
import Testing

@testable import ChatViewModels

/// Links and names of rooms, as from the command line or another program.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct AddressOpeningTests: AccountsSuite {
    let service = FakeAccountService()
    let clock = ManualClock()
    let localChats = FakeChatService()
    let local: ConversationCoordinator
    let made = Recorder<String>()

    init() { local = ConversationCoordinator(service: localChats) }

    /// Returns the coordinator of an account whose server joins any room as "garden".
    private func makeJoining(_ chats: FakeChatService, _ joined: Recorder<String>) -> AccountsCoordinator {
        chats.capabilities = [.join]
        chats.joining = { address in
            joined.record(address)
            return RoomID("garden")
        }
        let time = Timekeeper(clock)
        return AccountsCoordinator(local: local, service: service, time: time) {
            let coordinator = ConversationCoordinator(
                ConversationEnvironment(service: chats, time: time, session: $1))
            coordinator.start(opening: nil)
            return coordinator
        }
    }

    @Test(
        "A link that starts the program waits for its account, and a while for the connection",
        arguments: [true, false])
    func linkWaitsForTheConnection(comesOnline: Bool) async {
        let (chats, joined, asked) = (FakeChatService(), Recorder<String>(), Recorder<Bool>())
        let accounts = makeJoining(chats, joined)
        let opened = Recorder<AccountRoom>()
        accounts.start(showing: Self.ann.id)
        accounts.open(
            "#garden:example.org", opening: { opened.record($0) }, withoutAccount: { asked.record(true) })
        service.publish([AccountState(account: Self.ann, condition: .connecting)])
        await eventually { accounts.selection == Self.ann.id }
        chats.publish([.of("other")])
        await eventually { accounts.conversations.rooms.state.isLoaded }
        await waitUntilIdle()
        #expect(joined.values.isEmpty && asked.values.isEmpty, "the server cannot be asked yet")
        if comesOnline {
            service.publish([AccountState(account: Self.ann, condition: .online)])
        } else {
            while joined.values.isEmpty {
                clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        await eventually { opened.values == [AccountRoom(Self.ann.id, RoomID("garden"))] }
        #expect(joined.values == ["#garden:example.org"] && asked.values.isEmpty)
    }

    @Test func linkToAListedRoomNeedsNoConnection() async {
        let (chats, joined, opened) = (FakeChatService(), Recorder<String>(), Recorder<AccountRoom>())
        let accounts = makeJoining(chats, joined)
        let room = RoomID("!tea:example.org")
        accounts.start(showing: AccountsCoordinator.localID)
        accounts.open("matrix:roomid/tea:example.org", opening: { opened.record($0) })
        service.publish([AccountState(account: Self.ann, condition: .connecting)])
        chats.publish([.of("other"), .of(room.rawValue)])
        await eventually { opened.values == [AccountRoom(Self.ann.id, room)] }
        #expect(accounts.selection == Self.ann.id && joined.values.isEmpty)
    }

    /// Starts with a list of local rooms of which the program has selected the first.
    private func startLocally() async {
        local.start(opening: nil)
        localChats.publish([.of("plans"), .of("tea")])
        await eventually { [local] in local.rooms.state.selection == RoomID("plans") }
    }

    @Test(
        "A user who has opened another room while a link waits for its account stays there",
        arguments: [true, false], [true, false])
    func choiceDuringTheWait(opensRoom: Bool, isAccountRequested: Bool) async {
        await startLocally()
        let (chats, joined, opened) = (FakeChatService(), Recorder<String>(), Recorder<AccountRoom>())
        let accounts = makeJoining(chats, joined)
        accounts.start(showing: isAccountRequested ? Self.ann.id : AccountsCoordinator.localID)
        accounts.open("#garden:example.org", opening: { opened.record($0) })
        if opensRoom { local.rooms.send(.select(RoomID("tea"))) }
        service.publish([AccountState(account: Self.ann, condition: .online)])
        chats.publish([.of("other")])
        await eventually { joined.values == ["#garden:example.org"] }
        await waitUntilIdle()
        #expect(accounts.selection == (opensRoom ? AccountsCoordinator.localID : Self.ann.id))
        #expect(opened.values == (opensRoom ? [] : [AccountRoom(Self.ann.id, RoomID("garden"))]))
        #expect(local.rooms.state.selection == RoomID(opensRoom ? "tea" : "plans"))
        #expect(!accounts.isWaiting)
    }

    @Test("A user who has chosen another account while a link waits for its own stays there")
    func accountChosenDuringTheWait() async {
        let (chats, joined, opened) = (FakeChatService(), Recorder<String>(), Recorder<AccountRoom>())
        let accounts = makeJoining(chats, joined)
        accounts.start(showing: Self.ann.id)
        accounts.open("#garden:example.org", opening: { opened.record($0) })
        accounts.select(AccountsCoordinator.localID)
        service.publish([AccountState(account: Self.ann, condition: .online)])
        chats.publish([.of("other")])
        await eventually { joined.values == ["#garden:example.org"] }
        await waitUntilIdle()
        #expect(accounts.selection == AccountsCoordinator.localID && opened.values.isEmpty)
    }

    @Test("Of two links that wait for their account, the later one opens")
    func laterLinkWins() async {
        let (chats, opened) = (FakeChatService(), Recorder<AccountRoom>())
        let accounts = makeJoining(chats, Recorder<String>())
        let plans = AccountRoom(Self.ann.id, RoomID("!plans:example.org"))
        accounts.start(showing: AccountsCoordinator.localID)
        for room in ["tea", "plans"] {
            accounts.open("matrix:roomid/\(room):example.org", opening: { opened.record($0) })
        }
        service.publish([AccountState(account: Self.ann, condition: .online)])
        chats.publish(["other", "!tea:example.org", "!plans:example.org"].map { .of($0) })
        await eventually { opened.values.last == plans }
        await waitUntilIdle()
        #expect(opened.values.last == plans && accounts.conversations.rooms.state.selection == plans.room)
    }

    @Test("A user who has opened a room while another one is looked for by its name stays there")
    func choiceBeforeTheNameIsFound() async {
        await startLocally()
        let chats = FakeChatService()
        let accounts = makeJoining(chats, Recorder<String>())
        let opened = Recorder<AccountRoom>()
        accounts.start(showing: AccountsCoordinator.localID)
        accounts.openRoom(named: "Room garden") { opened.record($0) }
        local.rooms.send(.select(RoomID("tea")))
        service.publish([AccountState(account: Self.ann, condition: .online)])
        chats.publish([.of("garden")])
        await eventually { accounts.coordinator(of: Self.ann.id)?.rooms.state.isLoaded == true }
        await waitUntilIdle()
        #expect(accounts.selection == AccountsCoordinator.localID && opened.values.isEmpty)
        #expect(local.requests.state.pending.isEmpty, "it was found")
    }

    @Test func linkNeedsAnAccountOnlyIfThereIsNone() async {
        let accounts = make()
        let asked = Recorder<Bool>()
        accounts.open("#garden:example.org", withoutAccount: { asked.record(true) })
        #expect(asked.values.isEmpty, "the accounts are not known yet")
        await eventually { asked.values == [true] }
    }

    @Test("A direct chat is started in the first account that can search for people, once it is open")
    func directChatIsStartedWhereUsersAreFound() async {
        let chats = FakeChatService()
        chats.capabilities = [.userDirectory]
        let accounts = AccountsCoordinator(local: local, service: service, time: Timekeeper(clock)) { id, _ in
            ConversationCoordinator(service: id == Self.bo.id ? chats : FakeChatService())
        }
        let selected = Recorder<Bool>()
        accounts.start(showing: AccountsCoordinator.localID)
        accounts.selectAccountForDirectChats { selected.record($0) }
        #expect(selected.values.isEmpty, "the accounts are not known yet")
        publish(.online)
        await eventually { selected.values == [true] }
        #expect(accounts.selection == Self.bo.id, "the other account cannot search")
        accounts.selectAccountForDirectChats { selected.record($0) }
        #expect(selected.values == [true, true] && accounts.selection == Self.bo.id, "without waiting")
    }

    @Test("Who has opened a room while the accounts open starts a direct chat where they are, or none")
    func choiceBeforeTheDirectChat() async {
        await startLocally()
        let chats = FakeChatService()
        chats.capabilities = [.userDirectory]
        let accounts = AccountsCoordinator(local: local, service: service, time: Timekeeper(clock)) { _, _ in
            ConversationCoordinator(service: chats)
        }
        let selected = Recorder<Bool>()
        accounts.start(showing: AccountsCoordinator.localID)
        accounts.selectAccountForDirectChats { selected.record($0) }
        local.rooms.send(.select(RoomID("tea")))
        publish(.online)
        await eventually { selected.values == [false] }
        #expect(accounts.selection == AccountsCoordinator.localID)
    }

    @Test("Who has opened another room since the click on a notification stays there", arguments: [true, false])
    func choiceAfterANotification(isAccountOpen: Bool) async {
        await startLocally()
        let chats = FakeChatService()
        let accounts = makeJoining(chats, Recorder<String>())
        let opened = Recorder<AccountRoom>()
        accounts.start(showing: AccountsCoordinator.localID)
        let account = isAccountOpen ? AccountsCoordinator.localID : Self.ann.id
        accounts.show(NotificationTarget(account: account, room: RoomID("plans"))) { opened.record($0) }
        local.rooms.send(.select(RoomID("tea")))
        service.publish([AccountState(account: Self.ann, condition: .online)])
        chats.publish([.of("other")])
        await eventually { accounts.coordinator(of: Self.ann.id)?.rooms.state.isLoaded == true }
        await waitUntilIdle()
        #expect(accounts.selection == AccountsCoordinator.localID && opened.values.isEmpty)
        #expect(local.rooms.state.selection == RoomID("tea"))
    }

    @Test func displayedAccountStaysWhereNoUsersAreFound() async {
        let (accounts, selected) = (make(), Recorder<Bool>())
        accounts.selectAccountForDirectChats { selected.record($0) }
        publish(.online)
        await eventually { selected.values == [false] }
        #expect(accounts.selection == AccountsCoordinator.localID && made.values.count == 2, "all are open by then")
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
}
