import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk

/// Which rows the room list updates.
final class RoomListTests: GtkTestCase {
    @MainActor
    private static func summaries(_ count: Int) -> [RoomSummary] {
        (0..<count).map { number in
            RoomSummary(
                room: Room(id: RoomID("\(number)"), name: "Room \(number)", kind: .group), lastMessage: nil,
                lastActivity: Date(), unreadCount: 0, draftPreview: nil)
        }
    }

    @MainActor
    private static func makeList(
        _ viewModel: RoomListViewModel, dateText: DateText = .desktop, height: Int? = nil
    ) throws -> (Builder, ListView, RoomListView) {
        try Resource.load()
        let builder = Builder(resource: Resource.ui("window"))
        let list: ListView = builder["room_list"]
        let view = RoomListView(
            viewModel: viewModel, list: list, stack: builder["sidebar_stack"],
            avatarLoader: AvatarLoader(service: FakeMediaService()), dateText: dateText, height: height)
        return (builder, list, view)
    }

    /// GTK makes 200 rows at once, of which a window shows a few.
    func testRowsBelowTheWindowAreFilledLater() throws {
        try onMain {
            let service = FakeRoomService()
            let viewModel = RoomListViewModel(service: service)
            let (builder, list, view) = try Self.makeList(viewModel, height: 1440)
            viewModel.start(opening: nil)
            var rooms = Self.summaries(120)
            service.publish(rooms)
            XCTAssertTrue(MainLoop.pump { view.renderCount > 0 })
            XCTAssertEqual(list.children.count, 120)
            XCTAssertEqual(view.renderCount, 30, "of the rows that GTK has made")
            rooms[90].room.name = "Renamed meanwhile"
            service.publish(rooms)
            let isRenamed = { viewModel.state.sections.contains { $0.rows[90].name == "Renamed meanwhile" } }
            XCTAssertTrue(MainLoop.pump { isRenamed() })
            XCTAssertEqual(view.renderCount, 30)
            let window: Widget = builder["window"]
            gtk_window_set_default_size(window.cast(), 900, 600)
            gtk_window_present(window.cast())
            XCTAssertTrue(MainLoop.pump { list.children.contains { $0.height > 0 } })
            let content = try XCTUnwrap(
                list.parent?.wrapped(as: ScrolledWindow.self, gtk_scrolled_window_get_type())
            ).verticalAdjustment
            let height = content.upper
            XCTAssertGreaterThan(height, 3000)
            XCTAssertTrue(MainLoop.pump { view.renderCount == 120 })
            let texts = list.descendants.compactMap { $0.wrapped(as: Label.self, gtk_label_get_type())?.text }
            for number in 0..<120 where number != 90 { XCTAssertTrue(texts.contains("Room \(number)")) }
            XCTAssertTrue(texts.contains("Renamed meanwhile"))
            var frames = 0
            list.addTick {
                frames += 1
                return frames < 3
            }
            XCTAssertTrue(MainLoop.pump { frames == 3 })
            XCTAssertEqual(content.upper, height, "an empty row is as high as a filled one")
            gtk_window_destroy(window.cast())
        }
    }

    /// Returns the names of the rooms, from top to bottom.
    @MainActor
    private static func names(in list: ListView) -> [String] {
        list.visibleTexts.filter { $0.hasPrefix("Room ") }
    }

    @MainActor
    private static func present(_ builder: Builder) -> Widget {
        let window: Widget = builder["window"]
        gtk_window_set_default_size(window.cast(), 900, 600)
        gtk_window_present(window.cast())
        return window
    }

    /// GTK makes another row each time that a room moves, which those of a busy account do all day.
    func testRowsOfRoomsThatMoveAreFreed() throws {
        try onMain {
            let service = FakeRoomService()
            let viewModel = RoomListViewModel(service: service)
            let (builder, list, view) = try Self.makeList(viewModel)
            viewModel.start(opening: nil)
            var rooms = Self.summaries(6)
            service.publish(rooms)
            let window = Self.present(builder)
            XCTAssertTrue(MainLoop.pump { Self.names(in: list) == rooms.map(\.room.name) })
            var isFreed = false
            list.children.first?.onFinalize { isFreed = true }
            for _ in 0..<30 {
                rooms.swapAt(0, 1)
                let names = rooms.map(\.room.name)
                service.publish(rooms)
                XCTAssertTrue(MainLoop.pump { Self.names(in: list) == names }, "\(Self.names(in: list))")
            }
            XCTAssertLessThanOrEqual(view.rowCount, 8)
            XCTAssertTrue(MainLoop.pump { isFreed })
            gtk_window_destroy(window.cast())
        }
    }

    func testFocusStaysOnARoomThatMoves() throws {
        try onMain {
            let service = FakeRoomService()
            let viewModel = RoomListViewModel(service: service)
            let (builder, list, view) = try Self.makeList(viewModel)
            viewModel.start(opening: RoomID("0"))
            var rooms = Self.summaries(4)
            service.publish(rooms)
            let window = Self.present(builder)
            XCTAssertTrue(MainLoop.pump { Self.names(in: list).count == 4 })
            try RealInput.activate(window)
            view.grabFocus()
            try RealInput.press("Down", "Down", "Down")
            XCTAssertTrue(MainLoop.pump { viewModel.state.selection == RoomID("3") })
            let moved = rooms.removeLast()
            rooms.insert(moved, at: 0)
            service.publish(rooms)
            XCTAssertTrue(MainLoop.pump { Self.names(in: list).first == "Room 3" })
            XCTAssertTrue(
                MainLoop.pump { list.root?.focus?.visibleTexts.contains("Room 3") == true },
                "\(list.root?.focus?.visibleTexts ?? [])")
            try RealInput.press("Down")
            XCTAssertTrue(MainLoop.pump { viewModel.state.selection == RoomID("0") }, "the next one from there")
            gtk_window_destroy(window.cast())
        }
    }

    /// As it does when a message arrives.
    func testFocusReturnsFromTheMenuToARoomThatHasMoved() throws {
        try onMain {
            let service = FakeRoomService()
            let viewModel = RoomListViewModel(service: service)
            let (builder, list, view) = try Self.makeList(viewModel)
            viewModel.start(opening: RoomID("0"))
            var rooms = Self.summaries(4)
            service.publish(rooms)
            let window = Self.present(builder)
            XCTAssertTrue(MainLoop.pump { Self.names(in: list).count == 4 })
            try RealInput.activate(window)
            view.grabFocus()
            try RealInput.press("ctrl+Down", "ctrl+Down", "ctrl+Down")
            let isOnRoom = { list.root?.focus?.visibleTexts.contains("Room 3") == true }
            XCTAssertTrue(MainLoop.pump(until: isOnRoom))
            try RealInput.press("Menu")
            let isOpen = {
                window.descendants.contains { $0.isMapped && $0.isInstance(of: gtk_popover_menu_get_type()) }
            }
            XCTAssertTrue(MainLoop.pump(until: isOpen))
            let moved = rooms.removeLast()
            rooms.insert(moved, at: 0)
            service.publish(rooms)
            XCTAssertTrue(MainLoop.pump { Self.names(in: list).first == "Room 3" })
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { !isOpen() })
            XCTAssertTrue(MainLoop.pump(until: isOnRoom), "\(list.root?.focus?.visibleTexts ?? [])")
            gtk_window_destroy(window.cast())
        }
    }

    /// The first row is then one that cannot have the focus.
    func testFocusLeadsToARoomBelowASectionTitle() throws {
        try onMain {
            let service = FakeRoomService()
            let viewModel = RoomListViewModel(service: service)
            let (builder, list, view) = try Self.makeList(viewModel)
            viewModel.start(opening: RoomID("1"))
            let direct = RoomSummary(
                room: Room(id: RoomID("direct"), name: "Direct", kind: .direct), lastMessage: nil,
                lastActivity: Date(), unreadCount: 0, draftPreview: nil)
            service.publish([direct] + Self.summaries(2))
            let window = Self.present(builder)
            XCTAssertTrue(MainLoop.pump { viewModel.state.hasSectionTitles && Self.names(in: list).count == 2 })
            try RealInput.activate(window)
            let isOnOpenRoom = { list.root?.focus?.visibleTexts.contains("Room 1") == true }
            view.grabFocus()
            XCTAssertTrue(MainLoop.pump(until: isOnOpenRoom), "\(list.root?.focus?.visibleTexts ?? [])")
            list.root?.focus = nil
            // As Tab does. The next key may come before the next iteration of the main loop.
            list.parent?.grabFocus()
            XCTAssertTrue(isOnOpenRoom(), "\(list.root?.focus?.visibleTexts ?? [])")
            gtk_window_destroy(window.cast())
        }
    }

    /// Ctrl and an arrow key move the focus alone.
    func testReturnOpensTheFocusedRoom() throws {
        try onMain {
            let service = FakeRoomService()
            let viewModel = RoomListViewModel(service: service)
            let (builder, list, view) = try Self.makeList(viewModel)
            var activated: [RoomID?] = []
            view.onActivate = { activated.append(viewModel.state.selection) }
            viewModel.start(opening: RoomID("0"))
            service.publish(Self.summaries(4))
            let window = Self.present(builder)
            XCTAssertTrue(MainLoop.pump { Self.names(in: list).count == 4 })
            try RealInput.activate(window)
            view.grabFocus()
            try RealInput.press("ctrl+Down", "ctrl+Down")
            XCTAssertTrue(MainLoop.pump { list.root?.focus?.visibleTexts.contains("Room 2") == true })
            XCTAssertEqual(viewModel.state.selection, RoomID("0"))
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { activated == [RoomID("2")] }, "\(activated)")
            gtk_window_destroy(window.cast())
        }
    }

    /// Each keystroke updates a draft, and each message a room: neither may update other rows.
    func testChangeOfOneRoomTouchesOneRow() throws {
        try onMain {
            let service = FakeRoomService()
            let viewModel = RoomListViewModel(service: service)
            var formatted = 0
            let dateText = DateText(.untranslated, isTwelveHour: { false }) { _, _ in
                formatted += 1
                return "time"
            }
            let (builder, list, view) = try Self.makeList(viewModel, dateText: dateText)
            viewModel.start(opening: RoomID("0"))
            var rooms = Self.summaries(40)
            service.publish(rooms)
            let window: Widget = builder["window"]
            gtk_window_set_default_size(window.cast(), 900, 600)
            gtk_window_present(window.cast())
            XCTAssertTrue(MainLoop.pump { list.visibleTexts.contains("Room 0") && view.renderCount >= 40 })
            let (renders, times, arrangements) = (view.renderCount, formatted, view.arrangementCount)

            rooms[0].draftPreview = "Hello"
            rooms[1].unreadCount = 7
            service.publish(rooms)
            XCTAssertTrue(MainLoop.pump { list.visibleTexts.contains("7") })
            XCTAssertEqual(view.renderCount, renders + 1, "only the room with unread messages is set")
            XCTAssertEqual(formatted, times, "no time has changed")

            rooms[2].lastActivity = Date(timeIntervalSinceNow: -60)
            rooms[3].room.name = "Renamed"
            service.publish(rooms)
            XCTAssertTrue(MainLoop.pump { list.visibleTexts.contains("Renamed") })
            XCTAssertEqual(view.renderCount, renders + 3)
            XCTAssertEqual(formatted, times + 1)

            Date.updateLocalZone()
            viewModel.send(.select(RoomID("1")))
            XCTAssertTrue(MainLoop.pump { formatted >= times + 41 }, "the times are those of the new zone")
            view.show(SeenRooms(isSelectionSeen: true))
            XCTAssertEqual(view.arrangementCount, arrangements, "all rooms are where they were")
            rooms.swapAt(0, 3)
            service.publish(rooms)
            XCTAssertTrue(MainLoop.pump { view.arrangementCount == arrangements + 1 })
            XCTAssertTrue(MainLoop.pump { Self.names(in: list).prefix(3) == ["Room 1", "Room 2", "Room 0"] })
            gtk_window_destroy(window.cast())
        }
    }
}
