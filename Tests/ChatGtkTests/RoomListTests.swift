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

    /// Each keystroke updates a draft, and each message a room: neither may update other rows.
    func testChangeOfOneRoomTouchesOneRow() throws {
        try onMain {
            try Resource.load()
            let service = FakeRoomService()
            let viewModel = RoomListViewModel(service: service)
            let builder = Builder(resource: Resource.ui("window"))
            let list: ListView = builder["room_list"]
            var formatted = 0
            let dateText = DateText(.untranslated, isTwelveHour: { false }) { _, _ in
                formatted += 1
                return "time"
            }
            let view = RoomListView(
                viewModel: viewModel, list: list, stack: builder["sidebar_stack"],
                avatarLoader: AvatarLoader(service: FakeMediaService()), dateText: dateText)
            viewModel.start(opening: RoomID("0"))
            var rooms = Self.summaries(40)
            service.publish(rooms)
            let window: Widget = builder["window"]
            gtk_window_set_default_size(window.cast(), 900, 600)
            gtk_window_present(window.cast())
            XCTAssertTrue(MainLoop.pump { list.visibleTexts.contains("Room 0") && view.renderCount >= 40 })
            let (renders, times) = (view.renderCount, formatted)

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
            gtk_window_destroy(window.cast())
        }
    }
}
