import CGtk
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit

/// The keywords in the preferences by keyboard.
final class KeywordListTests: GtkTestCase {
    func testKeywordsThatStayKeepTheFocus() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            let service = KeywordService()
            let viewModel = AccountPreferencesViewModel(account: "@ann:example.org", name: "Ann", service: service)
            let group = AccountPreferencesGroup(viewModel, settings: settings)
            let window = TestWindow(group.widget, width: 360, height: 600)
            let removal = { (keyword: String) -> Widget? in
                let row = group.widget.descendants.first {
                    $0.isInstance(of: adw_action_row_get_type()) && $0.visibleTexts.contains(keyword)
                }
                return row?.descendants.first { $0.tooltip == "Remove Keyword" }
            }
            service.publish(["coffee", "milk", "tea"])
            XCTAssertTrue(MainLoop.pump { removal("tea") != nil })
            let second = try XCTUnwrap(removal("milk"))
            XCTAssertTrue(second.grabFocus())
            service.publish(["milk", "tea", "water"])
            XCTAssertTrue(MainLoop.pump { removal("water") != nil && removal("coffee") == nil })
            XCTAssertTrue(second.isMapped && second.isFocus, "others have changed")
            second.activate()
            XCTAssertTrue(MainLoop.pump { removal("milk") == nil })
            XCTAssertTrue(removal("tea")?.isFocus == true, "the next one")
            service.publish([])
            XCTAssertTrue(MainLoop.pump { removal("tea") == nil && removal("water") == nil })
            let focus = try XCTUnwrap(group.widget.root?.focus)
            XCTAssertTrue(group.entry.isAncestor(of: focus))
            window.close()
        }
    }
}
