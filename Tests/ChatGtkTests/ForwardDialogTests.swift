import CGtk
import ChatCore
import ChatTestSupport
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk

/// The list of rooms to forward messages to.
final class ForwardDialogTests: GtkTestCase {
    private static let reason = "You do not have permission to send messages in this room."

    @MainActor
    private static func row(_ name: String) -> RoomListViewModel.Row {
        RoomListViewModel.Row(
            id: RoomID(name), name: name, kind: .group, preview: .empty, lastActivity: Fixtures.date, day: .today,
            unreadCount: 0)
    }

    func testRoomsInWhichNothingCanBeSentSayWhyAndAreNotChosen() throws {
        try onMain {
            try Resource.load()
            let rooms = ["News", "Plans"].map { Self.row($0) }
            var chosen: [RoomID] = []
            let parent = TestWindow(Label("behind"), width: 360, height: 640)
            ForwardDialog.present(
                over: parent.window, find: { text in rooms.filter { text.isEmpty || $0.name.contains(text) } },
                obstacle: { $0 == RoomID("News") ? Self.reason : nil },
                avatarLoader: AvatarLoader(service: FakeMediaService()), choose: { chosen.append($0) })
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.first?.isMapped == true })
            let dialog = try XCTUnwrap(OpenDialogs.all.first)
            try RealInput.activate(dialog)
            let isExplained = { dialog.visibleTexts.filter { $0 == Self.reason }.count == 1 }
            XCTAssertTrue(MainLoop.pump { isExplained() })
            let news = try XCTUnwrap(
                dialog.descendants.first {
                    $0.isInstance(of: adw_action_row_get_type()) && $0.visibleTexts.contains("News")
                })
            XCTAssertTrue(news.visibleTexts.contains(Self.reason))
            gtk_widget_activate(news.cast())
            // The row has the focus now.
            let search = try XCTUnwrap(dialog.descendants.first { $0.isInstance(of: gtk_search_entry_get_type()) })
            XCTAssertTrue(search.grabFocus())
            try RealInput.type("News")
            XCTAssertTrue(MainLoop.pump { !dialog.visibleTexts.contains("Plans") && isExplained() })
            try RealInput.press("Return")
            try RealInput.press("ctrl+a", "BackSpace")
            XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Plans") && isExplained() })
            XCTAssertTrue(chosen.isEmpty)
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { chosen == [RoomID("Plans")] }, "\(chosen)")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
            parent.close()
        }
    }
}
