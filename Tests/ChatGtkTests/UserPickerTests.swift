import CGtk
import ChatCore
import ChatTestSupport
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk

/// The lists of the user search by keyboard.
final class UserPickerTests: GtkTestCase {
    private static let ann = User(id: MemberID("@ann:example.org"), name: "Ann")
    private static let bo = User(id: MemberID("@bo:example.org"), name: "Bo")
    private static let carl = User(id: MemberID("@carl:example.org"), name: "Carl")

    @MainActor
    private struct Picker {
        let viewModel: UserSearchViewModel
        let picker: UserPicker

        func row(of user: User) -> Widget? {
            picker.widget.descendants.first {
                $0.isInstance(of: adw_action_row_get_type()) && $0.visibleTexts.contains(user.title)
            }
        }

        func chip(of user: User) -> Widget? {
            picker.widget.descendants.first { $0.isMapped && $0.tooltip == user.id.rawValue }
        }

        func isMarked(_ row: Widget) -> Bool {
            row.descendants.contains {
                $0.isMapped && $0.wrapped(as: Image.self, gtk_image_get_type())?.iconName == "object-select-symbolic"
            }
        }

        var isSearchFocused: Bool {
            guard let focus = picker.widget.root?.focus else { return false }
            return picker.widget.descendants.contains {
                $0.isInstance(of: gtk_search_entry_get_type()) && $0.isAncestor(of: focus)
            }
        }
    }

    @MainActor
    private static func use(
        _ respond: @escaping @Sendable (FakeUserDirectory.Call) -> [User], _ body: (Picker) throws -> Void
    ) throws {
        try Resource.load()
        let viewModel = UserSearchViewModel(service: FakeUserDirectory { respond($0) })
        let picker = UserPicker(viewModel, avatarLoader: AvatarLoader(service: FakeMediaService()))
        let window = TestWindow(picker.widget, width: 360, height: 640)
        try body(Picker(viewModel: viewModel, picker: picker))
        window.close()
    }

    func testResultsThatStayKeepTheFocus() throws {
        try onMain {
            try Self.use({ call in
                if call == .search("b") { return [Self.ann, Self.bo] }
                return call == .search("bo") ? [Self.carl, Self.bo] : [Self.carl]
            }) { shown in
                shown.viewModel.send(.search("b"))
                XCTAssertTrue(MainLoop.pump { shown.row(of: Self.bo)?.isMapped == true })
                let second = try XCTUnwrap(shown.row(of: Self.bo))
                XCTAssertTrue(second.grabFocus())
                shown.viewModel.send(.toggle(Self.bo))
                XCTAssertTrue(MainLoop.pump { shown.isMarked(second) })
                XCTAssertTrue(second.isFocus, "only its mark has changed")
                shown.viewModel.send(.search("bo"))
                XCTAssertTrue(MainLoop.pump { shown.row(of: Self.carl) != nil })
                XCTAssertTrue(second.isMapped && second.isFocus, "another result has changed")
                shown.viewModel.send(.search("carl"))
                XCTAssertTrue(MainLoop.pump { shown.row(of: Self.bo) == nil })
                XCTAssertTrue(shown.row(of: Self.carl)?.isFocus == true, "the one that is left")
                shown.viewModel.send(.search(""))
                XCTAssertTrue(MainLoop.pump { shown.row(of: Self.carl) == nil })
                XCTAssertTrue(shown.isSearchFocused)
            }
        }
    }

    func testChosenUsersThatStayKeepTheFocus() throws {
        try onMain {
            try Self.use({ _ in [] }) { shown in
                for user in [Self.ann, Self.bo, Self.carl] { shown.viewModel.send(.toggle(user)) }
                XCTAssertTrue(MainLoop.pump { shown.chip(of: Self.carl) != nil })
                let second = try XCTUnwrap(shown.chip(of: Self.bo))
                XCTAssertTrue(second.grabFocus())
                shown.viewModel.send(.toggle(Self.ann))
                XCTAssertTrue(MainLoop.pump { shown.chip(of: Self.ann) == nil })
                XCTAssertTrue(second.isMapped && second.isFocus, "another one was removed")
                second.activate()
                XCTAssertTrue(MainLoop.pump { shown.chip(of: Self.bo) == nil })
                XCTAssertTrue(shown.chip(of: Self.carl)?.isFocus == true, "the next one")
                shown.viewModel.send(.removeLast)
                XCTAssertTrue(MainLoop.pump { shown.chip(of: Self.carl) == nil })
                XCTAssertTrue(shown.isSearchFocused)
            }
        }
    }
}
