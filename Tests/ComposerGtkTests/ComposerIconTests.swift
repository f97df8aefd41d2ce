import CGtk
import ComposerSessions
import GtkTestSupport
import MediaGtk
import XCTest

@testable import Composer
@testable import ComposerGtk
@testable import GtkKit

/// The bar's icons, and its menu for attachments.
final class ComposerIconTests: GtkTestCase {
    private static let folder = "/org/gtk/libgtk/icons/scalable/actions/"

    /// Without an application, whose resources GTK would find automatically.
    func testIconsAreInTheThemeOfEveryBar() {
        onMain {
            let box = Box(.vertical)
            box.append(ComposerBar().widget)
            for name in [
                "add", "send", "emoji", "edit", "reply", "expand", "collapse", "attach", "close", "image", "retry",
            ] {
                XCTAssertTrue(IconTheme.contains("parlance-\(name)-symbolic"), name)
            }
            XCTAssertFalse(IconTheme.contains("parlance-no-such-symbolic"))
        }
    }

    /// GTK would read the theme again for each.
    func testTheBarAddsNoFolderToTheTheme() throws {
        try onMain {
            try ComposerBar.register()
            let theme = try XCTUnwrap(gdk_display_get_default().flatMap { gtk_icon_theme_get_for_display($0) })
            let folders = try XCTUnwrap(gtk_icon_theme_get_resource_path(theme))
            defer { g_strfreev(folders) }
            let names = (0..<Int(g_strv_length(folders))).compactMap { folders[$0].map { String(cString: $0) } }
            XCTAssertTrue(names.contains { $0.hasPrefix("/org/gtk/libgtk/icons") }, "\(names)")
            XCTAssertFalse(names.contains { $0.contains("ComposerGtk") }, "\(names)")
        }
    }

    func testFilesHaveIconsByTheirTypes() throws {
        try onMain {
            try ComposerBar.register()
            let names = ["image/png", "video/webm", "audio/ogg", "application/pdf", ""].map(FileIcon.name(ofType:))
            for name in names { XCTAssertTrue(IconTheme.contains(name), name) }
            XCTAssertEqual(Set(names).count, 4)
            XCTAssertEqual(names[3], names[4], "a type that says nothing is that of any file")
        }
    }

    func testEveryPresetFormatHasAnIcon() throws {
        try onMain {
            try ComposerBar.register()
            for preset in ComposerConfiguration.Preset.allCases {
                for rule in ComposerConfiguration.preset(preset).markdown {
                    let icon = FormatName(of: rule).icon ?? "none"
                    XCTAssertTrue(IconTheme.contains(icon), "\(preset): \(rule.title), \(icon)")
                }
            }
            let own = FormatName(of: MarkdownRule(symbol: "^", title: "Small", form: .pair))
            XCTAssertNil(own.icon)
            XCTAssertEqual(own.label, "Small", "a rule of the host has its title")
            let renamed = FormatName(of: MarkdownRule(.quote, symbol: "| ", title: "Citation", form: .linePrefix))
            XCTAssertEqual(renamed.label, "Quote", "its kind names it, not its title")
        }
    }

    /// Arrows and lists are mirrored in right-to-left locales.
    func testDirectedIconsAreMirrored() throws {
        try onMain {
            try ComposerBar.register()
            for name in ["reply", "list", "quote"] {
                XCTAssertTrue(Resources.exists("\(Self.folder)parlance-\(name)-symbolic-rtl.svg"), name)
            }
        }
    }

    /// The keyboard opens the menu, and closing it returns the focus to its button.
    func testAttachmentMenuWorksByKeyboard() throws {
        try onMain {
            let bench = try HostBench { $0.acceptsFiles = true }
            let button = try XCTUnwrap(bench.bar.files?.attachmentController.button)
            XCTAssertTrue(MainLoop.pump { button.isMapped })
            try RealInput.press("shift+Tab")
            XCTAssertTrue(MainLoop.pump { bench.window.window.root?.focus.map { button.isAncestor(of: $0) } == true })
            try RealInput.press("Return")
            let items = ["Image or Video…", "File…"]
            XCTAssertTrue(MainLoop.pump { button.visibleTexts == items }, "\(button.visibleTexts)")
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { button.visibleTexts.isEmpty })
            XCTAssertTrue(MainLoop.pump { bench.window.window.root?.focus.map { button.isAncestor(of: $0) } == true })
            bench.session.handle(.startEdit(id: "m", WrittenText("sent")))
            XCTAssertTrue(MainLoop.pump { !button.isSensitive }, "an edit accepts no files")
            bench.close()
        }
    }
}
