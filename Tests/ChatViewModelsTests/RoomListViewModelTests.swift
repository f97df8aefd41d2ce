import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

@MainActor @Suite(.timeLimit(.minutes(10))) struct RoomListViewModelTests {
    private let service = FakeChatService()
    private let outputs = Recorder<RoomListViewModel.Output>()
    private let wallClock = Recorder<Date>()
    private let list: RoomListViewModel

    private let a = RoomID("a")
    private let b = RoomID("b")
    private let c = RoomID("c")

    init() {
        wallClock.record(localTime(2026, 3, 10))
        list = RoomListViewModel(service: service, now: { [wallClock] in wallClock.values.last! }) { [outputs] in
            outputs.record($0)
        }
    }

    private func show(_ ids: [String], unread: [String] = []) async {
        service.publish(ids.map { .of($0, unread: unread.contains($0) ? 2 : 0) })
        await eventually { [list] in list.state.isLoaded && list.state.rows.map(\.id.rawValue) == ids }
    }

    @Test("A joined room is found by its ID and by its address")
    func roomIsFoundByItsAddress() async {
        list.start()
        await show(["a", "b"])
        #expect(list.state.row(at: "b")?.id == b && list.state.row(at: "#b:x") == nil)
        var room = RoomSummary.of("b")
        room.room.address = "#b:x"
        service.publish([.of("a"), room])
        await eventually { [list] in list.state.row(at: "#b:x") != nil }
        #expect(list.state.row(at: "#b:x")?.id == b)
    }

    // MARK: Opening

    @Test func opensTheMostRecentRoom() async {
        list.start()
        await show(["a", "b"])
        #expect(list.state.selection == a)
        #expect(outputs.values == [.opened(a)])
    }

    @Test func opensTheLastOpenRoom() async {
        list.start(opening: b)
        await show(["a", "b"])
        #expect(outputs.values == [.opened(b)])
    }

    @Test func opensAnotherRoomIfTheLastOneWasRemoved() async {
        list.start(opening: c)
        await show(["a", "b"])
        await show(["a", "b", "c"])
        await waitUntilIdle()
        #expect(outputs.values == [.opened(a)])
    }

    @Test func withoutRoomsNothingIsOpened() async {
        list.start(opening: a)
        #expect(!list.state.isEmpty)
        await show([])
        #expect(list.state.isEmpty && list.state.selection == nil && outputs.values.isEmpty)
    }

    /// The first sync of a new account delivers its rooms later.
    @Test func firstRoomsArrivingLaterAreOpened() async {
        list.start()
        await show([])
        await show(["a", "b"])
        await show(["b", "a"])
        #expect(list.state.selection == a && outputs.values == [.opened(a)])
    }

    /// Midnight may pass before the store returns the rooms.
    @Test func midnightBeforeLoadingChangesNothing() async {
        list.start(opening: b)
        list.send(.dayChanged)
        #expect(!list.state.isLoaded && !list.state.isEmpty)
        await show(["a", "b"])
        #expect(outputs.values == [.opened(b)])
    }

    // MARK: Unread marks

    @Test("A room marked as unread counts as one message and is navigated to like an unread one")
    func markedRoomsAreUnread() async {
        list.start(opening: a)
        var marked = RoomSummary.of("c")
        marked.isMarkedUnread = true
        service.publish([.of("a"), .of("b", unread: 2), .of("d"), marked])
        await eventually { [list] in list.state.rows.count == 4 }
        #expect(list.state.unreadTotal == 3)
        list.send(.selectUnreadNeighbor(2))
        #expect(list.state.selection == c)
    }

    @Test("Opening a room removes its unread mark once it is seen, and makes no requests for other rooms")
    func seeingARoomRemovesItsMark() async {
        list.start()
        var marked = RoomSummary.of("a")
        marked.isMarkedUnread = true
        service.publish([marked, .of("b")])
        await eventually { [list] in list.state.rows.count == 2 }
        list.send(.reading(b, .seen))
        list.send(.reading(a, .seen))
        await eventually { [service] in service.calls == [.setMarkedUnread(RoomID("a"), false)] }
        list.send(.reading(b, .markUnread))
        list.send(.reading(a, .markRead))
        await eventually { [service] in service.calls.count == 3 }
        let last: [String] = service.calls.suffix(2).map { "\($0)" }
        #expect(Set(last).count == 2)
        #expect(service.calls.contains(.setMarkedUnread(b, true)) && service.calls.contains(.markAllRead(a)))
    }

    // MARK: Selecting

    @Test func selectionStaysWhenRoomsMove() async {
        list.start(opening: b)
        await show(["a", "b", "c"])
        await show(["c", "b", "a"])
        #expect(list.state.selectedRow?.id == b)
        #expect(outputs.values == [.opened(b)])
    }

    @Test func removingTheSelectedRoomClearsTheSelection() async {
        list.start()
        await show(["a", "b", "c"])
        await show(["b"])
        #expect(list.state.selection == nil)
        #expect(outputs.values == [.opened(a), .closed, .removed([a, c])])
    }

    @Test func reselectingTheSameRoomReportsNothing() async {
        list.start()
        await show(["a", "b"])
        list.send(.select(a))
        list.send(.select(b))
        list.send(.select(nil))
        list.send(.select(nil))
        #expect(outputs.values == [.opened(a), .opened(b), .closed])
    }

    @Test func unlistedRoomIsSelectedOnceListed() async {
        list.start()
        await show(["a"])
        list.send(.select(b))
        #expect(list.state.selection == a)
        await show(["b", "a"])
        #expect(list.state.selection == b)
    }

    @Test func laterSelectionOverridesAPendingOne() async {
        list.start()
        await show(["a", "c"])
        list.send(.select(b))
        list.send(.select(c))
        await show(["b", "a", "c"])
        await waitUntilIdle()
        #expect(list.state.selection == c)
    }

    nonisolated static let moves: [(from: String?, by: Int, to: String?)] = [
        ("b", 1, "c"), ("b", -1, "a"), ("d", 1, "d"), ("a", -1, "a"), ("a", 3, "d"), ("a", 99, "d"), ("d", -99, "a"),
        ("b", 0, "b"), (nil, 1, "a"), (nil, -1, "d"), (nil, 2, "b"), ("a", .max, "d"), ("d", .min, "a"),
    ]

    @Test(arguments: moves) func movesToNeighbors(from: String?, by offset: Int, to: String?) async {
        list.start()
        await show(["a", "b", "c", "d"])
        list.send(.select(from.map { RoomID($0) }))
        list.send(.selectNeighbor(offset))
        #expect(list.state.selection?.rawValue == to)
    }

    nonisolated static let unreadMoves: [(from: String?, by: Int, to: String?)] = [
        ("a", 1, "b"), ("b", 1, "e"), ("c", 1, "e"), ("e", 1, "e"), ("c", -1, "b"), ("b", -1, "b"), ("a", 2, "e"),
        ("a", -1, "a"), (nil, 1, "b"), (nil, -1, "e"),
    ]

    @Test(arguments: unreadMoves) func movesToUnreadNeighbors(from: String?, by offset: Int, to: String?) async {
        list.start()
        await show(["a", "b", "c", "d", "e", "f"], unread: ["b", "e"])
        list.send(.select(from.map { RoomID($0) }))
        list.send(.selectUnreadNeighbor(offset))
        #expect(list.state.selection?.rawValue == to)
    }

    @Test func withoutRoomsThereAreNoNeighbors() async {
        list.start()
        await show([])
        list.send(.selectNeighbor(1))
        list.send(.selectUnreadNeighbor(-1))
        #expect(outputs.values.isEmpty)
    }

    // MARK: Changing

    @Test(arguments: [true, false]) func createdRoomIsOpened(isListedFirst: Bool) async {
        let gate = Gate()
        service.before = { if case .create = $0 { await gate.pass() } }
        list.start()
        await show(["a"])
        list.send(.create(name: "New"))
        await eventually { gate.waiting == 1 }
        if isListedFirst { await show(["New", "a"]) }
        gate.open()
        if !isListedFirst {
            await waitUntilIdle()
            #expect(list.state.selection == a)
            await show(["New", "a"])
        }
        await eventually { [list] in list.state.selection == RoomID("New") }
        #expect(outputs.values == [.opened(a), .opened(RoomID("New"))])
    }

    @Test func actionsReachTheService() async {
        list.start()
        await show(["a", "b"])
        list.send(.rename(a, to: "Other"))
        list.send(.leave(b))
        await eventually { [service] in service.calls.count == 2 }
        #expect(service.calls.contains(.rename(a, "Other")) && service.calls.contains(.leave(b)))
        #expect(list.state.rows.count == 2)
    }

    @Test(arguments: [
        RoomListViewModel.Action.create(name: ""), .rename(RoomID("a"), to: ""),
    ])
    func failuresAreReported(action: RoomListViewModel.Action) async {
        service.before = { _ in throw ChatError.diskFull }
        list.start()
        await show(["a"])
        list.send(action)
        await eventually { [outputs] in outputs.values.contains(.failed(.diskFull)) }
        #expect(list.state.selection == a && list.state.rows.count == 1)
    }

    @Test func roomThatCouldNotBeLeftIsReported() async {
        service.before = { _ in throw ChatError.diskFull }
        list.start()
        await show(["a"])
        list.send(.leave(a))
        await eventually { [outputs, a] in outputs.values.contains(.notLeft(a, .diskFull)) }
        #expect(list.state.selection == a && list.state.rows.count == 1)
    }

    @Test func unknownErrorBecomesAStorageError() async {
        struct Odd: Error {}
        service.before = { _ in throw Odd() }
        list.send(.rename(a, to: "Other"))
        await eventually { [outputs] in !outputs.values.isEmpty }
        #expect(outputs.values == [.failed(.storage(reason: "Odd()"))])
    }

    // MARK: Rows

    nonisolated static let previews: [(RoomSummary, RoomListViewModel.Row.Preview)] = [
        (.of("a"), .empty),
        (.of("a", last: .of("hi")), .message(sender: "Alex", isOwn: false, text: "hi")),
        (.of("a", last: .of("hi", isOwn: true)), .message(sender: nil, isOwn: true, text: "hi")),
        (
            .of("a", last: .of("hi", trust: .notEncrypted)),
            .message(sender: "Alex", isOwn: false, text: "hi", trust: .notEncrypted)
        ),
        (.of("a", kind: .guide, last: .of("hi")), .message(sender: nil, isOwn: false, text: "hi")),
        (.of("a", kind: .notes, last: .of("hi", isOwn: true)), .message(sender: nil, isOwn: true, text: "hi")),
        (.of("a", last: .of("one\ntwo\r\n\nthree\n")), .message(sender: "Alex", isOwn: false, text: "one two three")),
        (.of("a", last: .of("hi"), draft: "un\nsent"), .draft("un sent")),
        (.of("a", draft: "unsent"), .draft("unsent")),
        (.of("a", last: .of("hi"), draft: ""), .message(sender: "Alex", isOwn: false, text: "hi")),
        (.of("a", draft: " \n\n "), .empty),
        (.of("a", last: .of("hi", isOwn: true, delivery: .sending)), .waiting("hi")),
        (.of("a", last: .of("hi", isOwn: true, delivery: .failed)), .failed("hi")),
    ]

    @Test(arguments: previews) func previewShowsTheMostRelevantState(
        summary: RoomSummary, preview: RoomListViewModel.Row.Preview
    ) async {
        // Open another room: the open room's row shows no draft, as its composer does.
        list.start(opening: b)
        service.publish([summary, .of("b")])
        await eventually { [list] in list.state.isLoaded }
        #expect(list.state.rows[0].preview == preview)
        #expect(list.state.rows[0].name == "Room a")
    }

    @Test func openRoomShowsItsLastMessageInsteadOfTheDraft() async {
        list.start(opening: a)
        service.publish([.of("a", last: .of("hi"), draft: "unsent"), .of("b", last: .of("ho"), draft: "other")])
        await eventually { [list] in list.state.isLoaded }
        #expect(
            list.state.rows.map(\.preview) == [.message(sender: "Alex", isOwn: false, text: "hi"), .draft("other")])
        list.send(.select(b))
        #expect(
            list.state.rows.map(\.preview) == [.draft("unsent"), .message(sender: "Alex", isOwn: false, text: "ho")])
    }

    @Test(arguments: [(0, nil), (1, "1"), (99, "99"), (100, "99+"), (12_345, "99+")] as [(Int, String?)])
    func unreadBadgeIsCapped(count: Int, label: String?) async {
        list.start()
        service.publish([.of("a", unread: count), .of("b", unread: 1)])
        await eventually { [list] in list.state.isLoaded }
        #expect(list.state.rows[0].unreadLabel == label)
        #expect(list.state.unreadTotal == count + 1)
    }

    @Test("A changed room derives its own row alone, and the draft of the open room changes none")
    func onlyChangedRoomsAreDerived() async {
        list.start(opening: a)
        var rooms = (["a", "b"] + (0..<200).map { "room \($0)" }).map { RoomSummary.of($0) }
        service.publish(rooms)
        await eventually { [list] in list.state.isLoaded }
        let (derived, before) = (list.derivedRowCount, list.state)

        rooms[0].draftPreview = "Hel"
        rooms[1].draftPreview = "elsewhere"
        service.publish(rooms)
        await eventually { [list] in list.state.rows[1].preview == .draft("elsewhere") }
        #expect(list.derivedRowCount == derived + 2)
        #expect(zip(list.state.rows, before.rows).count { $0 != $1 } == 1)
        #expect(list.state.isArranged(as: before))
        var direct = before
        direct.rows[3].kind = .direct
        #expect(!direct.isArranged(as: before))

        // One room moves to the top, and another is removed.
        rooms[5].unreadCount = 1
        rooms.insert(rooms.remove(at: 5), at: 0)
        rooms.remove(at: 9)
        service.publish(rooms)
        await eventually { [list] in list.state.rows[0].unreadCount == 1 }
        #expect(list.derivedRowCount == derived + 3)
        #expect(list.state.rows.map(\.id) == rooms.map(\.id))
        #expect(!list.state.isArranged(as: before))

        // A room's draft is displayed once another room is opened.
        list.send(.select(b))
        #expect(list.state.row(at: "a")?.preview == .draft("Hel"))
        #expect(list.state.row(at: "b")?.preview == .empty)
        #expect(list.derivedRowCount == derived + 5)
    }

    @Test func midnightUpdatesTheDays() async {
        wallClock.record(localTime(2026, 3, 10, 23, 59, 59))
        list.start()
        service.publish([.of("a", at: localTime(2026, 3, 10, 8)), .of("b", at: localTime(2026, 3, 9, 8))])
        await eventually { [list] in list.state.isLoaded }
        #expect(list.state.rows.map(\.day) == [.today, .yesterday])
        wallClock.record(localTime(2026, 3, 11, 0))
        list.send(.dayChanged)
        #expect(list.state.rows.map(\.day) == [.yesterday, .thisWeek])
        #expect(outputs.values == [.opened(a)])
    }

    /// A count that may be too low is shown as a lower bound.
    @Test(arguments: [(20, true, "20+"), (20, false, "20"), (100, true, "99+"), (0, true, nil)])
    func incompleteUnreadCountIsALowerBound(_ count: Int, _ hasMore: Bool, _ label: String?) async {
        list.start()
        var summary = RoomSummary.of("a")
        (summary.unreadCount, summary.mayHaveMoreUnread) = (count, hasMore)
        service.publish([summary])
        await eventually { [list] in list.state.isLoaded }
        #expect(list.state.rows[0].unreadLabel == label)
    }
}
