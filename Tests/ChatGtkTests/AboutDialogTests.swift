import CGtk
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

final class AboutDialogTests: GtkTestCase {
    func testAboutWindowIsComplete() throws {
        try onMain {
            AboutDialog.present(version: "0.1.0", encryptionLibrary: "vodozemac 0.10.0", over: nil)
            let window = try XCTUnwrap(Widget.windows.first { shim_is_a($0.pointer, adw_about_window_get_type()) != 0 })
            @MainActor func text(_ property: String) -> String { window.text(property) }
            XCTAssertEqual(text("website"), "https://github.com/parlance-chat/parlance")
            XCTAssertEqual(text("issue-url"), "https://github.com/parlance-chat/parlance/issues")
            XCTAssertEqual(text("copyright"), "© 2026 The Parlance developers")
            XCTAssertEqual(text("developer-name"), "The Parlance developers")
            XCTAssertEqual(text("comments"), "Chat on Matrix, or with yourself")
            XCTAssertEqual(text("release-notes"), "<p>First release.</p>")
            XCTAssertEqual(text("release-notes-version"), "0.1.0")
            XCTAssertEqual(text("debug-info"), "Parlance 0.1.0\nEncryption: vodozemac 0.10.0, not in use yet")
            XCTAssertEqual(
                AboutDialog.debugInfo(version: "0.1.0", encryptionLibrary: nil),
                "Parlance 0.1.0\nEncryption: built without")
            XCTAssertEqual(text("translator-credits"), "", "there are no translations yet")
            window.withPointer { gtk_window_destroy($0) }
        }
    }
}
