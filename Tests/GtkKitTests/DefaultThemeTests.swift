import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

/// The environment that GTK, libadwaita and child processes see.
final class DefaultThemeTests: GtkTestCase {
    func testOnlyTheSettingsOfGTKFindTheVariable() throws {
        try onMain {
            // Other tests are unaffected: GTK has its theme.
            unsetenv("GTK_THEME")
            DefaultTheme.prepare()
            XCTAssertNil(Self.value)
            XCTAssertEqual(DefaultTheme.suppressed { Self.value }, DefaultTheme.replacement)
            XCTAssertNil(Self.value)
            let child = Process()
            let output = Pipe()
            child.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            child.standardOutput = output
            try child.run()
            let variables = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            XCTAssertFalse(variables.contains("GTK_THEME"), variables)
            // The user's own setting is kept.
            setenv("GTK_THEME", "Own", 1)
            DefaultTheme.prepare()
            XCTAssertEqual(DefaultTheme.suppressed { Self.value }, "Own")
            XCTAssertEqual(Self.value, "Own")
            unsetenv("GTK_THEME")
        }
    }

    func testTheThemeIsTheOneThatLibadwaitaSelects() throws {
        try onMain {
            let settings = Object(borrowing: try UnsafeMutableRawPointer(XCTUnwrap(gtk_settings_get_default())))
            XCTAssertEqual(settings.text("gtk-theme-name"), DefaultTheme.replacement)
            XCTAssertTrue(Resources.exists("/org/gtk/libgtk/theme/\(DefaultTheme.replacement)/gtk.css"))
        }
    }

    private static var value: String? { getenv("GTK_THEME").map { String(cString: $0) } }
}
