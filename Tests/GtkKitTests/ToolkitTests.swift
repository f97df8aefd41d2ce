import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

/// Actions, builder files and widget snapshots.
final class ToolkitTests: GtkTestCase {
    func testActionsInvokeTheirHandlers() {
        onMain {
            let group = ActionGroup()
            var log: [String] = []
            let plain = group.add("plain") { log.append("plain") }
            group.add("open", withString: { log.append($0) })
            let box = Box(.horizontal)
            box.insertActions(group, prefix: "test")
            XCTAssertTrue(box.activateAction("test.plain"))
            XCTAssertTrue(box.activateAction("test.open", "room"))
            plain.isEnabled = false
            box.activateAction("test.plain")
            XCTAssertFalse(box.activateAction("test.missing"))
            XCTAssertEqual(log, ["plain", "room"])
        }
    }

    func testActionsAreFreedWithTheirGroupAndWindow() {
        onMain {
            let before = ClosureCount.live
            do {
                let group = ActionGroup()
                group.add("plain") {}
                XCTAssertEqual(ClosureCount.live, before + 1)
                let box = Box(.horizontal)
                box.insertActions(group, prefix: "test")
            }
            XCTAssertEqual(ClosureCount.live, before, "a group on a widget")
            do {
                let application = Application(id: "io.github.parlance_chat.Parlance.Toolkit")
                g_application_set_flags(application.cast(), shim_application_non_unique)
                g_application_register(application.cast(), nil, nil)
                let window = Widget(sinking: gtk_application_window_new(application.cast()))
                gtk_window_present(window.cast())
                let group = ActionGroup()
                group.add("plain") {}
                window.insertActions(group, prefix: "win")
                gtk_window_destroy(window.cast())
            }
            XCTAssertTrue(MainLoop.pump(forAtMost: 2) { ClosureCount.live == before }, "in a window")
        }
    }

    func testBuilderFindsTypedChildren() {
        onMain {
            let builder = Builder(
                text: """
                    <interface><object class="GtkBox" id="box"><child><object class="GtkLabel" id="label">
                    <property name="label">Hello</property></object></child></object></interface>
                    """)
            XCTAssertEqual(builder["label", Label.self].text, "Hello")
            XCTAssertEqual(builder["box", Box.self].children.count, 1)
        }
    }

    func testWidgetIsSavedAsPNG() throws {
        try onMain {
            let path = NSTemporaryDirectory() + "parlance-\(UUID().uuidString).png"
            defer { try? FileManager.default.removeItem(atPath: path) }
            let label = Label("Picture")
            XCTAssertFalse(label.savePNG(to: path), "not shown yet")
            let window = TestWindow(label)
            XCTAssertTrue(label.savePNG(to: path))
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            XCTAssertEqual(Array(data.prefix(4)), [0x89, 0x50, 0x4E, 0x47])
            XCTAssertFalse(label.savePNG(to: "/nowhere/at/all.png"))
            window.close()
        }
    }

    func testMissingResourcesThrow() throws {
        try onMain {
            XCTAssertThrowsError(try Resources.register(path: "/nowhere.gresource"))
            XCTAssertFalse(Resources.exists("/io/github/parlance_chat/Nothing"))
        }
    }

    func testMissingSchemaIsNil() {
        onMain { XCTAssertNil(Settings(schema: "io.github.parlance_chat.NoSuchSchema")) }
    }
}
