import ChatCore
import ChatTestSupport
import ComposerSessions
import Testing

@testable import ChatViewModels

/// The page of the very first start.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct WelcomeTests {
    /// Creates rooms unless told to fail.
    @MainActor
    private final class FakeFirstRooms: FirstRoomsService {
        nonisolated let awaitsFirstRooms = true
        let created = Recorder<Bool>()
        private let fails: Bool

        init(fails: Bool = false) { self.fails = fails }

        @MainActor func createFirstRooms() async throws {
            created.record(true)
            if fails { throw ChatError.notFound }
        }
    }

    private let accounts = FakeAccountService()
    private let chat = FakeChatService()

    private static let ann = Account(
        id: "@ann:example.org", kind: "matrix", server: "https://example.org", device: "D", name: "ann")
    private static let room = RoomSummary(
        room: Room(id: RoomID("room"), name: "Room", kind: .group), lastMessage: nil, lastActivity: Fixtures.date,
        unreadCount: 0, draftPreview: nil)

    private func make(_ service: FakeFirstRooms, rooms: [RoomSummary] = []) async -> AccountsCoordinator {
        let coordinator = AccountsCoordinator(
            local: ConversationCoordinator(service: chat), service: accounts, time: Timekeeper(ManualClock()),
            welcome: WelcomeViewModel(service: service)
        ) { _, _ in ConversationCoordinator(service: FakeChatService()) }
        coordinator.local.start(opening: nil)
        chat.publish(rooms)
        await eventually { coordinator.local.rooms.state.isLoaded }
        #expect(!coordinator.showsWelcome, "it is not known yet whether there are accounts")
        coordinator.start(showing: AccountsCoordinator.localID)
        return coordinator
    }

    @Test func firstChoiceCreatesTheRooms() async {
        let service = FakeFirstRooms()
        let coordinator = await make(service)
        await eventually { coordinator.showsWelcome }
        coordinator.welcome?.send(.chooseThisComputer)
        coordinator.welcome?.send(.chooseThisComputer)
        await eventually { !coordinator.showsWelcome }
        #expect(service.created.values.count == 1)
    }

    @Test func failureIsShownAndCanBeRetried() async {
        let service = FakeFirstRooms(fails: true)
        let coordinator = await make(service)
        await eventually { coordinator.showsWelcome }
        coordinator.welcome?.send(.chooseThisComputer)
        await eventually { coordinator.welcome?.state.error == .notFound }
        #expect(coordinator.showsWelcome && coordinator.welcome?.state.canChoose == true)
        coordinator.welcome?.send(.chooseThisComputer)
        await eventually { service.created.values.count == 2 }
    }

    @Test func roomsThatAreThereNeedNoWelcome() async {
        let coordinator = await make(FakeFirstRooms(), rooms: [Self.room])
        await coordinator.waitUntilIdle(within: .seconds(1))
        #expect(!coordinator.showsWelcome)
    }

    @Test func accountReplacesTheWelcomeAndThisComputerCanBeChosenLater() async {
        let service = FakeFirstRooms()
        let coordinator = await make(service)
        await eventually { coordinator.showsWelcome }
        accounts.publish([AccountState(account: Self.ann, condition: .online)])
        await eventually { !coordinator.showsWelcome && coordinator.rows.count == 2 }
        coordinator.select(Self.ann.id)
        await eventually { coordinator.selection == Self.ann.id }
        #expect(service.created.values.isEmpty)
        coordinator.choose(AccountsCoordinator.localID)
        await eventually { service.created.values.count == 1 }
    }

    @Test func lastAccountThatIsRemovedBringsTheWelcomeBack() async {
        let service = FakeFirstRooms()
        let coordinator = await make(service)
        accounts.publish([AccountState(account: Self.ann, condition: .online)])
        await eventually { coordinator.rows.count == 2 }
        coordinator.select(Self.ann.id)
        await eventually { coordinator.selection == Self.ann.id }
        accounts.publish([])
        await eventually { coordinator.showsWelcome }
        #expect(service.created.values.isEmpty)
    }
}
