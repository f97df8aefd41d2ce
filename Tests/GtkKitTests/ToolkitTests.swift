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
            // Do not count closures of earlier tests that an idle source will free.
            while MainLoop.iterate() {}
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
            XCTAssertTrue(MainLoop.pump { ClosureCount.live == before }, "in a window")
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
            // A leftover temporary file is harmless.
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

    func testWindowIsSavedWithAMarginForItsShadow() throws {
        try onMain {
            let path = NSTemporaryDirectory() + "parlance-\(UUID().uuidString).png"
            // A leftover temporary file is harmless.
            defer { try? FileManager.default.removeItem(atPath: path) }
            let content = Label("Content")
            let window = AdwaitaWindow()
            window.setContent(content)
            window.setDefaultSize(width: 300, height: 200)
            XCTAssertFalse(window.saveWindowPNG(to: path), "not shown yet")
            window.present()
            XCTAssertTrue(MainLoop.pump { content.width > 0 })
            XCTAssertTrue(window.saveWindowPNG(to: path, margin: 20))
            let header = try Data(contentsOf: URL(fileURLWithPath: path)).dropFirst(16).prefix(8)
            let size = [header.prefix(4), header.suffix(4)].map { $0.reduce(0) { $0 << 8 | Int($1) } }
            // Without the frame that GTK draws if there is no compositor.
            XCTAssertEqual(size, [content.width + 40, content.height + 40].map { $0 * window.scaleFactor })
            window.destroy()
        }
    }

    func testDataOfAResourceIsRead() {
        onMain {
            XCTAssertNil(Resources.data("/io/github/parlance_chat/Nothing"))
            let theme = "/org/gtk/libgtk/theme/Default/Default-light.css"
            XCTAssertEqual(Resources.data(theme).map { String(decoding: $0, as: UTF8.self) }, Resources.text(theme))
            XCTAssertEqual(Resources.data(theme)?.isEmpty, false)
        }
    }

    func testMissingResourcesThrow() throws {
        try onMain {
            XCTAssertThrowsError(try Resources.register(path: "/nowhere.gresource"))
            XCTAssertFalse(Resources.exists("/io/github/parlance_chat/Nothing"))
        }
    }

    /// GTK reads the icon theme once it has started, which it has for all tests.
    func testIconsOfABundleThatComesLateAreFound() throws {
        try onMain {
            let folder = FileManager.default.temporaryDirectory.appending(path: "parlance-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // A leftover temporary file is harmless.
            defer { try? FileManager.default.removeItem(at: folder) }
            let name = "parlance-late-symbolic"
            XCTAssertFalse(IconTheme.contains(name))
            try Resources.register(path: try Self.bundle(ofIcon: name, in: folder).path)
            XCTAssertTrue(IconTheme.contains(name))
        }
    }

    private static func bundle(ofIcon name: String, in folder: URL) throws -> URL {
        let (manifest, bundle) = (folder.appending(path: "late.xml"), folder.appending(path: "late.gresource"))
        try Data(#"<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"/>"#.utf8)
            .write(to: folder.appending(path: "\(name).svg"))
        let path = "/org/gtk/libgtk/icons/scalable/actions"
        try Data(#"<gresources><gresource prefix="\#(path)"><file>\#(name).svg</file></gresource></gresources>"#.utf8)
            .write(to: manifest)
        let compiler = Process()
        let output = Pipe()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = [
            "glib-compile-resources", "--sourcedir", folder.path, "--target", bundle.path, manifest.path,
        ]
        compiler.standardError = output
        try compiler.run()
        // Until it ends. Waiting for that would run the main loop.
        let errors = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        XCTAssertEqual(errors, "")
        return bundle
    }

    /// In a sandbox, settings are a file, which each write replaces.
    func testSettingThatIsSetAlreadyIsNotWrittenAgain() throws {
        try onMain {
            let folder = FileManager.default.temporaryDirectory.appending(path: "parlance-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // A leftover temporary file is harmless.
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "settings")
            let settings = try Self.settings(in: file)
            let isWritten = { (change: () -> Void) in
                let before = try? FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? UInt64
                change()
                let after = try? FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? UInt64
                return before != after
            }
            let number = settings.int("window-width")
            // What is the default may be set, too.
            XCTAssertTrue(isWritten { settings.set("window-width", number) })
            XCTAssertFalse(isWritten { settings.set("window-width", number) })
            XCTAssertTrue(isWritten { settings.set("window-width", number + 1) })
            XCTAssertEqual(settings.int("window-width"), number + 1)
            XCTAssertTrue(isWritten { settings.set("selected-room", "!room") })
            XCTAssertFalse(isWritten { settings.set("selected-room", "!room") })
            XCTAssertTrue(isWritten { settings.set("window-maximized", true) })
            XCTAssertFalse(isWritten { settings.set("window-maximized", true) })
        }
    }

    @MainActor
    private static func settings(in file: URL) throws -> Settings {
        // Its header asks for a definition that the module of GLib lacks.
        typealias Text = UnsafePointer<CChar>
        typealias Maker = @convention(c) (Text, Text, Text?) -> OpaquePointer?
        let address = try XCTUnwrap(dlsym(nil, "g_keyfile_settings_backend_new"))
        let backend = try XCTUnwrap(unsafeBitCast(address, to: Maker.self)(file.path, "/", nil))
        defer { g_object_unref(UnsafeMutableRawPointer(backend)) }
        let settings = g_settings_new_with_backend("io.github.parlance_chat.Parlance", backend)
        return Settings(owning: UnsafeMutableRawPointer(try XCTUnwrap(settings)))
    }

    func testMissingSchemaIsNil() {
        onMain { XCTAssertNil(Settings(schema: "io.github.parlance_chat.NoSuchSchema")) }
    }
}
