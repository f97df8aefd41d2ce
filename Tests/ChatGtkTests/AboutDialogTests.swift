import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

final class AboutDialogTests: GtkTestCase {
    func testAboutWindowIsComplete() throws {
        try onMain {
            AboutDialog.present(version: "0.1.0", encryptionLibrary: "vodozemac 0.10.0", over: nil)
            let dialog = try XCTUnwrap(OpenDialogs.all.first { $0.isInstance(of: shim_about_type()) })
            @MainActor func text(_ property: String) -> String { dialog.text(property) }
            XCTAssertEqual(text("website"), "https://github.com/parlance-chat/parlance")
            XCTAssertEqual(text("issue-url"), "https://github.com/parlance-chat/parlance/issues")
            XCTAssertEqual(text("copyright"), "© 2026 The Parlance developers")
            XCTAssertEqual(text("developer-name"), "The Parlance developers")
            XCTAssertTrue(text("comments").hasPrefix("Chat on Matrix, or with yourself\n\n"))
            XCTAssertTrue(text("comments").contains("has not been audited. Messages on your computer are not"))
            XCTAssertEqual(
                AboutDialog.comments(encryptionLibrary: nil), "Chat on Matrix, or with yourself")
            XCTAssertEqual(text("release-notes"), "<p>First release.</p>")
            XCTAssertEqual(text("release-notes-version"), "0.1.0")
            XCTAssertEqual(text("debug-info"), "Parlance 0.1.0\nEncryption: vodozemac 0.10.0")
            XCTAssertEqual(
                AboutDialog.debugInfo(version: "0.1.0", encryptionLibrary: nil),
                "Parlance 0.1.0\nEncryption: built without")
            XCTAssertEqual(text("translator-credits"), "", "there are no translations yet")
            dialog.close()
        }
    }

    func testLicensesOfTheEncryptionLibraryAreShownWhereItIsLinked() throws {
        try onMain {
            for library in ["vodozemac 0.10.0", nil] {
                XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
                AboutDialog.present(version: "0.1.0", encryptionLibrary: library, over: nil)
                let dialog = try XCTUnwrap(OpenDialogs.all.first { $0.isInstance(of: shim_about_type()) })
                // They are on a page that is not shown yet.
                let labels = dialog.descendants.filter { $0.isInstance(of: gtk_label_get_type()) }
                let texts = labels.map { label in label.withRawPointer { Label(borrowing: $0).text } }
                XCTAssertTrue(texts.contains("MD4C"))
                XCTAssertFalse(AboutDialog.encryptionLibraries.isEmpty)
                for section in AboutDialog.encryptionLibraries {
                    let hasCopyright = texts.contains { $0.hasPrefix(section.copyright) }
                    XCTAssertEqual(texts.contains(section.libraries), library != nil, section.libraries)
                    XCTAssertEqual(hasCopyright, library != nil, section.copyright)
                }
                dialog.close()
            }
        }
    }

    /// The crates that Apache-2.0 does not cover are named, each by a license of its own. Skipped without the crates.
    func testLicensesOfTheCratesAreListed() throws {
        let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let tree = project.appending(path: ".build/crates/tree")
        guard let lines = try? String(contentsOf: tree, encoding: .utf8) else { throw XCTSkip("no crates") }
        try onMain {
            for line in Set(lines.split(separator: "\n")) {
                let words = line.split(separator: " ")
                guard let crate = words.first, crate != "ratchets" else { continue }
                let expression = words.dropFirst(2).joined(separator: " ")
                let isCovered = expression.contains("Apache-2.0") && !expression.contains(" AND ")
                guard !isCovered else { continue }
                let found = AboutDialog.encryptionLibraries.first { section in
                    section.libraries.components(separatedBy: ", ").contains(String(crate))
                }
                let section = try XCTUnwrap(found, "\(line)")
                let name =
                    switch section.license {
                    case .apache2: "Apache-2.0"
                    case .bsd3: "BSD-3-Clause"
                    case .mit: "MIT"
                    case .other: "Unicode-3.0"
                    }
                XCTAssertTrue(expression.contains(name), "\(line)")
            }
        }
    }
}
