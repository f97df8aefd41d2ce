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

/// Invitations above the room list, and the invitation page.
final class InvitationTests: GtkTestCase {
    private static let garden = Invitation(
        room: RoomID("garden"), name: "Garden <1>", topic: "Beds & borders", inviter: MemberID("@ann:example.org"),
        inviterName: "Ann", isEncrypted: true, receivedAt: Date(timeIntervalSince1970: 0))

    @MainActor
    private static func summary(_ name: String, _ kind: Room.Kind) -> RoomSummary {
        RoomSummary(
            room: Room(id: RoomID(name), name: name, kind: kind), lastMessage: nil, lastActivity: Date(),
            unreadCount: 0, draftPreview: nil)
    }

    /// Keyboard navigation skips section titles in both directions; clicks on them do nothing.
    func testSectionTitlesAreNotSelectable() throws {
        try onMain {
            try Resource.load()
            Resource.loadStyle()
            let service = FakeRoomService()
            let viewModel = RoomListViewModel(service: service)
            let builder = Builder(resource: Resource.ui("window"))
            let list: ListView = builder["room_list"]
            let view = RoomListView(
                viewModel: viewModel, list: list, stack: builder["sidebar_stack"],
                avatarLoader: AvatarLoader(service: FakeMediaService()))
            viewModel.start()
            service.publish([Self.summary("plans", .group), Self.summary("Bo", .direct)])
            service.publish([Self.garden])
            let window: Widget = builder["window"]
            gtk_window_set_default_size(window.cast(), 900, 600)
            gtk_window_present(window.cast())
            let expected = ["Invitations", "Garden <1>", "Direct Chats", "Bo", "Rooms", "plans"]
            let shown = { list.visibleTexts.filter { expected.contains($0) } }
            XCTAssertTrue(MainLoop.pump { shown() == expected }, "\(shown())")
            XCTAssertTrue(list.visibleTexts.contains("Invitation from Ann"))
            try RealInput.activate(window)
            view.grabFocus()
            XCTAssertEqual(viewModel.state.selection, RoomID("plans"))
            @MainActor func press(_ key: String, leadsTo room: String) throws {
                try RealInput.press(key)
                XCTAssertTrue(
                    MainLoop.pump { viewModel.state.selection == RoomID(room) && list.selectedIndex != nil },
                    "\(key): \(String(describing: viewModel.state.selection))")
            }
            try press("Up", leadsTo: "Bo")
            try press("Up", leadsTo: "garden")
            try press("Up", leadsTo: "garden")
            try press("Down", leadsTo: "Bo")
            try press("Down", leadsTo: "plans")
            try press("Home", leadsTo: "garden")
            XCTAssertTrue(MainLoop.pump { list.selectedIndex == 1 })
            let title = try XCTUnwrap(list.descendants.first { $0.visibleTexts == ["Rooms"] && !$0.children.isEmpty })
            try RealInput.point(at: title)
            try RealInput.click()
            try press("Down", leadsTo: "Bo")
            gtk_window_destroy(window.cast())
        }
    }

    func testInvitationIsShownAndAccepted() throws {
        try onMain {
            try Resource.load()
            let service = FakeRoomService()
            var isGone = false
            do {
                let viewModel = InvitationViewModel(Self.garden, service: service)
                var view: InvitationView? = InvitationView(
                    viewModel, avatarLoader: AvatarLoader(service: FakeMediaService()))
                let page = try XCTUnwrap(view).widget
                page.onFinalize { isGone = true }
                let window = TestWindow(page, width: 360, height: 600)
                let texts = page.visibleTexts
                XCTAssertTrue(texts.contains("Garden <1>") && texts.contains("Beds & borders"), "\(texts)")
                XCTAssertTrue(texts.contains("Ann (@ann:example.org) invited you to this room."), "\(texts)")
                XCTAssertTrue(texts.contains { $0.contains("encrypted") })
                view?.grabFocus()
                try RealInput.activate(window.window)
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { service.calls == [.accept(RoomID("garden"))] }, "Return accepts")
                XCTAssertTrue(MainLoop.pump { page.button("Accept")?.isSensitive == false }, "until the room is there")
                window.close()
                view = nil
            }
            XCTAssertTrue(MainLoop.pump { isGone }, "the page is finalised")
        }
    }

    /// The user's own knock offers nothing to accept.
    func testOwnKnockCanOnlyBeWithdrawn() throws {
        try onMain {
            try Resource.load()
            var knock = Self.garden
            (knock.isKnock, knock.inviter, knock.inviterName) = (true, nil, nil)
            let row = RoomListViewModel.Row(knock, now: Date())
            XCTAssertEqual(row.preview, .knock)
            XCTAssertEqual(row.unreadCount, 0, "nobody has to be told of it")
            let service = FakeRoomService()
            let view = InvitationView(
                InvitationViewModel(knock, service: service), avatarLoader: AvatarLoader(service: FakeMediaService()))
            let window = TestWindow(view.widget, width: 360, height: 600)
            XCTAssertNil(view.widget.button("Accept"))
            XCTAssertTrue(
                view.widget.visibleTexts.contains { $0.hasPrefix("You asked to join") }, "\(view.widget.visibleTexts)")
            view.grabFocus()
            try RealInput.activate(window.window)
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { service.calls == [.decline(RoomID("garden"))] })
            window.close()
        }
    }

    func testFailedAnswerShowsAnErrorMessage() throws {
        try onMain {
            try Resource.load()
            let service = FakeRoomService(failing: .unreachable)
            let view = InvitationView(
                InvitationViewModel(Self.garden, service: service),
                avatarLoader: AvatarLoader(service: FakeMediaService()))
            let window = TestWindow(view.widget, width: 700, height: 600)
            try XCTUnwrap(view.widget.button("Decline")).activate()
            XCTAssertTrue(
                MainLoop.pump { view.widget.visibleTexts.contains { $0.contains("Could not connect") } })
            XCTAssertTrue(MainLoop.pump { view.widget.button("Decline")?.isSensitive == true })
            XCTAssertEqual(service.calls, [.decline(RoomID("garden"))])
            window.close()
        }
    }
}
