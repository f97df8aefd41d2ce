import CGtk
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// What the pages of the window cost that are not shown.
final class HiddenPageTests: GtkTestCase {
    /// GtkStack measures all its pages, unless both properties are off.
    func testNoStackOfTheWindowMeasuresHiddenPages() throws {
        try onMain {
            let application = Application(id: "io.github.parlance_chat.Parlance.HiddenPages")
            g_application_set_flags(application.cast(), shim_application_non_unique)
            g_application_register(application.cast(), nil, nil)
            let fixture = try ChatFixture()
            _ = try fixture.openRoom(named: "Plans")
            let window = MainWindow(application: application, coordinator: fixture.coordinator, settings: nil)
            window.present()
            let view = try XCTUnwrap(window.content.conversationView)
            // Around the messages, around the conversation, around the rooms, and around both panes.
            let stacks = Self.stacks(around: view.timeline.widget) + Self.stacks(around: window.sidebar.rooms)
            XCTAssertEqual(stacks.count, 5)
            for property in ["hhomogeneous", "vhomogeneous"] {
                XCTAssertFalse(stacks.contains { $0.isOn(property) }, property)
            }
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// Returns the widget, if it is a stack, and those that contain it.
    @MainActor
    private static func stacks(around widget: Widget) -> [Widget] {
        guard let stack: Widget = widget.ancestor(gtk_stack_get_type()) else { return [] }
        return [stack] + (stack.parent.map { stacks(around: $0) } ?? [])
    }
}
