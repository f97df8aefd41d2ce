import CGtk
import ChatCore
import ChatTestSupport
import ChatViewModels
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit
@testable import MediaGtk

/// User search dialogs, driven by real keys until they are finalized.
final class UserDialogTests: GtkTestCase {
    private static let ann = User(id: MemberID("@ann:example.org"), name: "Ann <1>")
    private static let bo = User(id: MemberID("@bo:example.org"), name: "Bo")

    @MainActor
    private static var pictures: AvatarLoader { AvatarLoader(service: FakeMediaService()) }

    /// Presents a dialog over a window, runs the steps, closes it, and waits until it is finalized.
    @MainActor
    private static func use(
        _ present: @MainActor (Widget) -> Dialog, _ steps: @MainActor (Dialog) throws -> Void
    ) throws {
        try Resource.load()
        Resource.loadStyle()
        let parent = TestWindow(Label("behind"), width: 600, height: 700)
        var isGone = false
        let closures = ClosureCount.live
        do {
            let dialog = present(parent.window)
            dialog.onFinalize { isGone = true }
            XCTAssertTrue(MainLoop.pump { dialog.isMapped && dialog.width > 0 })
            try RealInput.activate(dialog)
            try steps(dialog)
            if dialog.isMapped { dialog.close() }
        }
        XCTAssertTrue(MainLoop.pump { isGone }, "the dialog is finalised")
        XCTAssertTrue(MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures)")
        parent.close()
    }

    func testUsersAreSearchedSelectedAndInvited() throws {
        try onMain {
            let service = FakeUserDirectory { call in call == .search("bo") ? [Self.bo] : [Self.ann, Self.bo] }
            let viewModel = InviteViewModel(room: RoomID("room"), service: service)
            try Self.use({ InviteDialog.present(viewModel, over: $0, avatarLoader: Self.pictures) }) { dialog in
                XCTAssertEqual(dialog.button("Invite")?.isSensitive, false)
                try RealInput.type("a")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Ann <1>") }, "\(dialog.visibleTexts)")
                XCTAssertTrue(dialog.visibleTexts.contains("@ann:example.org"))
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { viewModel.userSearch.state.chosen == [Self.ann] }, "the first is taken")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts == dialog.visibleTexts.filter { $0 != "Bo" } })
                try RealInput.type("bo")
                XCTAssertTrue(MainLoop.pump { viewModel.userSearch.state.found == [Self.bo] })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { viewModel.userSearch.state.chosen.count == 2 })
                try RealInput.press("BackSpace")
                XCTAssertTrue(MainLoop.pump { viewModel.userSearch.state.chosen == [Self.ann] }, "the last is let go")
                XCTAssertTrue(MainLoop.pump { dialog.button("Invite")?.isSensitive == true })
                try XCTUnwrap(dialog.button("Invite")).activate()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped }, "it closes when all are asked")
                XCTAssertEqual(service.calls.last, .invite("@ann:example.org"))
            }
        }
    }

    func testNewChatStartsWithTheChosenUser() throws {
        try onMain {
            let service = FakeUserDirectory { _ in [Self.bo] }
            var chosen: [User] = []
            try Self.use({ parent in
                NewChatDialog.present(UserSearchViewModel(service: service), over: parent, avatarLoader: Self.pictures)
                {
                    chosen.append($0)
                }
            }) { dialog in
                try RealInput.type("bo")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Bo") })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { chosen == [Self.bo] && !dialog.isMapped })
            }
        }
    }

    /// Return ignores results of an earlier, shorter query.
    func testReturnWaitsForTheCurrentQuery() throws {
        try onMain {
            let (isReturnPressed, pressReturn) = AsyncStream.makeStream(of: Void.self)
            let service = FakeUserDirectory { call in
                guard call == .search("bo") else { return [Self.ann] }
                for await _ in isReturnPressed { break }
                return [Self.bo]
            }
            var chosen: [User] = []
            try Self.use({ parent in
                NewChatDialog.present(UserSearchViewModel(service: service), over: parent, avatarLoader: Self.pictures)
                {
                    chosen.append($0)
                }
            }) { dialog in
                try RealInput.type("b")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Ann <1>") })
                try RealInput.type("o")
                XCTAssertTrue(MainLoop.pump { service.calls.last == .search("bo") })
                try RealInput.press("Return")
                XCTAssertTrue(chosen.isEmpty, "the result of the shorter query is not taken")
                pressReturn.yield()
                XCTAssertTrue(MainLoop.pump { !chosen.isEmpty && !dialog.isMapped })
                XCTAssertEqual(chosen, [Self.bo])
            }
        }
    }

    func testRoomIsCreatedByKeyboard() throws {
        try onMain {
            let service = FakeUserDirectory { call in
                if case .create = call { throw ChatError.rejected(reason: "taken") }
                return []
            }
            let viewModel = NewRoomViewModel(service: service, ownUserID: MemberID("@me:example.org"))
            try Self.use({ NewSharedRoomDialog.present(viewModel, over: $0, avatarLoader: Self.pictures) }) { dialog in
                XCTAssertEqual(dialog.button("Create")?.isSensitive, false)
                try RealInput.type("Our garden")
                XCTAssertTrue(MainLoop.pump { dialog.button("Create")?.isSensitive == true })
                viewModel.send(.setPublic(true))
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains(":example.org") })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains { $0.contains("taken") } })
                XCTAssertEqual(service.calls, [.create(RoomRequest(name: "Our garden", address: "our-garden"))])
                XCTAssertTrue(dialog.isMapped, "what was typed stays")
                try RealInput.press("Escape")
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
        }
    }
}
