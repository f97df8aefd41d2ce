import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10)))
struct SwitcherViewModelTests {
    private static func row(_ name: String, account: String = "", unread: Int = 0, hours: Double = 0)
        -> SwitcherViewModel.Row
    {
        var summary = RoomSummary.of(name, at: localTime(2026, 3, 10).addingTimeInterval(hours * 3600))
        summary.room.name = name
        summary.unreadCount = unread
        return SwitcherViewModel.Row(
            id: .init(account: account, room: RoomID(name)),
            room: RoomListViewModel.Row(summary, saying: nil, isOpen: false, now: localTime(2026, 3, 10)))
    }

    private static func switcher(
        over rows: [SwitcherViewModel.Row], onChoose: @escaping (SwitcherViewModel.Row.ID) -> Void = { _ in }
    ) -> SwitcherViewModel {
        let lists = rows.map { SwitcherRooms.List(account: $0.id.account, rooms: [$0.room]) }
        return SwitcherViewModel(SwitcherRooms(lists), onChoose: onChoose)
    }

    private func names(_ switcher: SwitcherViewModel) -> [String] { switcher.state.rows.map(\.room.name) }

    @Test func unreadRoomsComeFirstThenTheMostRecent() {
        let switcher = Self.switcher(
            over: [
                Self.row("old"), Self.row("old unread", unread: 1), Self.row("new", hours: 2),
                Self.row("new unread", unread: 9, hours: 1),
            ])
        #expect(names(switcher) == ["new unread", "old unread", "new", "old"])
        #expect(switcher.state.selection == 0)
    }

    @Test func anyPartOfTheNameMatches() async {
        let switcher = Self.switcher(
            over: [Self.row("Garden plans"), Self.row("Weather"), Self.row("Plan B")])
        switcher.send(.type("plan"))
        await eventually { Set(self.names(switcher)) == ["Garden plans", "Plan B"] }
        switcher.send(.type("zzz"))
        #expect(switcher.state.hasNoMatches && switcher.state.selection == nil)
        switcher.send(.type(""))
        #expect(names(switcher).count == 3)
    }

    @Test func keysMoveTheSelectionAndReturnChooses() {
        let chosen = Recorder<SwitcherViewModel.Row.ID>()
        let rows = [Self.row("a", account: "x", hours: 2), Self.row("a", account: "y", hours: 1), Self.row("b")]
        let switcher = Self.switcher(over: rows) { chosen.record($0) }
        switcher.send(.move(-1))
        #expect(switcher.state.selection == 0)
        switcher.send(.move(1))
        #expect(switcher.state.chosen == nil)
        switcher.send(.choose)
        #expect(switcher.state.chosen == AccountRoom("y", RoomID("a")))
        switcher.send(.choose)
        let other = Self.switcher(over: rows) { chosen.record($0) }
        other.send(.move(8))
        other.send(.choose)
        #expect(
            chosen.values == [
                .init(account: "y", room: RoomID("a")), .init(account: "", room: RoomID("b")),
            ])
    }

    @Test("Return right after the text opens its best match, not what was suggested before it")
    func returnWaitsForTheMatches() async {
        let chosen = Recorder<SwitcherViewModel.Row.ID>()
        let switcher = Self.switcher(over: [Self.row("Plans", hours: 2), Self.row("Weather"), Self.row("Zoo")]) {
            chosen.record($0)
        }
        switcher.send(.type("weath"))
        switcher.send(.choose)
        // A letter that comes too late changes nothing.
        switcher.send(.type("weathz"))
        #expect(switcher.state.chosen == nil)
        await eventually { switcher.state.chosen == AccountRoom("", RoomID("Weather")) }
        #expect(chosen.values == [.init(account: "", room: RoomID("Weather"))])
        // A click opens what it hits.
        let other = Self.switcher(over: [Self.row("Plans", hours: 2), Self.row("Weather")]) { chosen.record($0) }
        other.send(.type("weath"))
        other.send(.open(0))
        #expect(other.state.chosen == AccountRoom("", RoomID("Plans")))
    }

    @Test("With 10,000 rooms, only visible ones become rows")
    func manyRoomsMakeFewRows() {
        let rows = (0..<10_000).map { Self.row("Room \($0)", unread: $0 == 17 ? 1 : 0, hours: Double($0)).room }
        let rooms = SwitcherRooms([SwitcherRooms.List(account: "", rooms: rows)])
        let switcher = SwitcherViewModel(rooms) { _ in }
        #expect(switcher.state.rows.count == SwitcherViewModel.maxRows)
        #expect(names(switcher).prefix(3) == ["Room 17", "Room 9999", "Room 9998"])
    }
}
