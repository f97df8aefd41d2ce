import ChatCore
import ChatTestSupport
import ComposerSessions
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10)))
struct DesktopSearchTests {
    private let service = FakeChatService()
    private let accounts: AccountsCoordinator
    private let search: DesktopSearch

    init() {
        accounts = AccountsCoordinator(local: ConversationCoordinator(service: service))
        search = DesktopSearch(accounts)
    }

    private func publish(_ names: String...) { service.publish(names.map { .of($0, at: localTime(2026, 3, 10)) }) }

    @Test("A search that started the program waits for the rooms of the store")
    func firstSearchWaitsForTheRooms() async {
        async let results = search.results(of: ["pla"], among: nil)
        accounts.local.start(opening: nil)
        publish("plans", "garden")
        let ids = await results
        #expect(search.describe(ids) == [DesktopSearch.Result(id: ids[0], name: "Room plans", account: "")])
        #expect(NotificationTarget(ids[0])?.room == RoomID("plans"))
    }

    @Test("A search whose rooms are never loaded ends")
    func searchWithoutRoomsEnds() async {
        let clock = ManualClock()
        let search = DesktopSearch(accounts, time: Timekeeper(clock))
        async let results = search.results(of: ["pla"], among: nil)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(10))
        #expect(await results.isEmpty)
    }

    @Test func termsAreFoundInAnyPartOfTheName() async {
        accounts.local.start(opening: nil)
        publish("plans", "garden")
        #expect(await search.results(of: ["room", "gar"], among: nil).count == 1)
        #expect(await search.results(of: ["room"], among: nil).count == 2)
        #expect(await search.results(of: ["nowhere"], among: []).isEmpty)
    }

    @Test func roomsThatHaveGoneAreNotDescribed() async {
        accounts.local.start(opening: nil)
        publish("plans", "garden")
        let ids = await search.results(of: ["room"], among: nil)
        publish("garden")
        await eventually { self.accounts.local.rooms.state.rows.count == 1 }
        #expect(search.describe(ids + ["not a target"]).map(\.name) == ["Room garden"])
    }
}
