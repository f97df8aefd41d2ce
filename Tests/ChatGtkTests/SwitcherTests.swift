import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkKit
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit

final class SwitcherTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.SwitcherTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        application.setKeys(["<Control>k"], for: "win.switch-room")
        return application
    }()

    func testKeysFindAndOpenARoom() throws {
        try onMain {
            let fixture = try ChatFixture()
            let plans = try fixture.openRoom(named: "Garden plans").roomID
            _ = try fixture.openRoom(named: "Weather")
            let accounts = AccountsCoordinator(local: fixture.coordinator)
            let window = MainWindow(application: Self.application, accounts: accounts, settings: nil)
            window.present()
            try RealInput.activate(window.window)
            XCTAssertTrue(MainLoop.pump { window.content.conversationView?.composerHasFocus == true })
            try RealInput.press("ctrl+k")
            XCTAssertTrue(
                MainLoop.pump { OpenDialogs.active?.title == "Switch Room" }, "in place of the composer's link")
            try RealInput.type("plan")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { fixture.coordinator.conversation?.roomID == plans })
            XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: "Switch Room") == nil }, "it is closed")
            XCTAssertTrue(MainLoop.pump { window.content.conversationView?.composerHasFocus == true })
            window.close()
            XCTAssertTrue(MainLoop.pump { !window.window.isMapped && fixture.coordinator.conversation == nil })
            try fixture.close()
        }
    }

    func testRowsOfEarlierMatchesAreFreed() throws {
        try onMain {
            try Resource.load()
            Resource.loadStyle()
            let rows = (0..<100).map { number in
                RoomListViewModel.Row(
                    id: RoomID("r\(number)"), name: "Room \(number)", kind: .group, preview: .empty,
                    lastActivity: Date(timeIntervalSince1970: Double(number)), day: .today, unreadCount: 0)
            }
            let rooms = SwitcherRooms([SwitcherRooms.List(account: "", rooms: rows)])
            let parent = TestWindow(Label("Parent"))
            let viewModel = SwitcherViewModel(rooms) { _ in }
            let switcher = SwitcherDialog.present(viewModel, over: parent.window, avatars: { _ in nil }) { _ in }
            XCTAssertTrue(MainLoop.pump { switcher.list.children.count == SwitcherViewModel.maxRows })
            for digit in 0..<10 {
                viewModel.send(.type("\(digit)"))
                try finish { await waitUntilIdle() }
            }
            XCTAssertTrue(
                MainLoop.pump { switcher.rowCount > 0 && switcher.rowCount == switcher.list.children.count },
                "\(switcher.rowCount), \(switcher.list.children.count)")
            switcher.widget.close()
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
            parent.close()
        }
    }

    /// The list creates widgets only for visible rows.
    func testTenThousandRoomsOpenWithFewRows() throws {
        try onMain {
            try Resource.load()
            Resource.loadStyle()
            let rows = (0..<10_000).map { number in
                RoomListViewModel.Row(
                    id: RoomID("r\(number)"), name: "Room \(number)", kind: .group, preview: .empty,
                    lastActivity: Date(timeIntervalSince1970: Double(number)), day: .today, unreadCount: 0)
            }
            let rooms = SwitcherRooms([SwitcherRooms.List(account: "", rooms: rows)])
            var isFinalized = false
            let parent = TestWindow(Label("Parent"))
            do {
                var chosen: [SwitcherViewModel.Row.ID] = []
                let viewModel = SwitcherViewModel(rooms) { chosen.append($0) }
                let switcher = SwitcherDialog.present(viewModel, over: parent.window, avatars: { _ in nil }) { _ in }
                switcher.widget.onFinalize { isFinalized = true }
                XCTAssertTrue(MainLoop.pump { switcher.widget.isMapped && switcher.list.width > 0 })
                XCTAssertEqual(viewModel.state.rows.first?.room.name, "Room 9999")
                // An avatar, and the padding that rows have in the sidebar, too.
                let row = try XCTUnwrap(switcher.list.children.first)
                XCTAssertEqual(row.bounds(in: switcher.list)?.height, 40 + 2 * 6)
                XCTAssertTrue(
                    MainLoop.pump { switcher.list.children.count == SwitcherViewModel.maxRows },
                    "rows that the first frame did not need come with the next")
                for _ in 0..<3 { try RealInput.press("Down") }
                XCTAssertTrue(MainLoop.pump { viewModel.state.selection == 3 })
                XCTAssertTrue(switcher.field.hasFocus, "the field keeps the focus")
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { chosen.map(\.room) == [RoomID("r9996")] })
            }
            XCTAssertTrue(MainLoop.pump { isFinalized })
            parent.close()
        }
    }
}
