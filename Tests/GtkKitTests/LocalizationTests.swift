import Foundation
import GtkKit
import XCTest

/// Placeholders and numbers in translated texts.
final class LocalizationTests: XCTestCase {
    func testPlaceholdersAreFilledInOnePass() {
        XCTAssertEqual(translated("{first} and {last}", ["first": "{last}", "last": "Bo"]), "{last} and Bo")
        XCTAssertEqual(translated("“{name}”", ["name": "a}b{c"]), "“a}b{c”")
    }

    func testUnknownPlaceholdersStay() {
        XCTAssertEqual(translated("{a} {b {c} }", ["c": "x"]), "{a} {b x }")
        XCTAssertEqual(translated("", ["a": "x"]), "")
        XCTAssertEqual(translated("{", ["a": "x"]), "{")
    }

    func testValuesAreIsolatedInRightToLeftSentencesAlone() {
        XCTAssertEqual(translated("دعوة من {name}", ["name": "@ann:x"]), "دعوة من \u{2068}@ann:x\u{2069}")
        XCTAssertEqual(translated("دعوة من {name}", ["name": "3"]), "دعوة من 3")
        XCTAssertEqual(translated("{name}: {text}", ["name": "آن", "text": "x!"]), "آن: x!")
        XCTAssertEqual(translated("“{name}”", ["name": "@ann:x"]), "“@ann:x”")
        let plural = "{count} رسائل من {name}"
        XCTAssertEqual(
            translatedPlural(plural, plural, count: 2, ["name": "Ann"]), "2 رسائل من \u{2068}Ann\u{2069}")
    }

    func testPluralsHaveTheirCount() {
        XCTAssertEqual(translatedPlural("{count} file", "{count} files", count: 1), "1 file")
        XCTAssertEqual(
            translatedPlural("{count} of {a}", "{count} files of {a}", count: 2, ["a": "{count}"]), "2 files of {count}"
        )
    }

    func testNumbersAreWrittenAsTheLocaleDoes() throws {
        XCTAssertEqual(Localization.number(1_234_567), "1234567", "tests run in the C locale")
        try inLocale("de_DE") {
            XCTAssertEqual(Localization.number(-1_234_567), "-1.234.567")
            XCTAssertEqual(translatedPlural("{count} file", "{count} files", count: 1000), "1.000 files")
        }
        try inLocale("hi_IN") { XCTAssertEqual(Localization.number(567), "५६७") }
        try inLocale("en_US") { XCTAssertEqual(Localization.number(.min), "-9,223,372,036,854,775,808") }
    }

    /// Runs `body` in a locale that need not be installed.
    private func inLocale(_ name: String, _ body: () -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: folder)) }
        let localedef = Process()
        localedef.executableURL = URL(fileURLWithPath: "/usr/bin/localedef")
        localedef.arguments = ["--no-archive", "-i", name, "-f", "UTF-8", folder.appending(path: "\(name).UTF-8").path]
        try localedef.run()
        localedef.waitUntilExit()
        setenv("LOCPATH", folder.path, 1)
        defer { unsetenv("LOCPATH") }
        let categories = [LC_CTYPE, LC_NUMERIC, LC_TIME, LC_COLLATE, LC_MONETARY, LC_MESSAGES]
        let mask = categories.reduce(Int32(0)) { $0 | (1 << $1) }
        let locale = try XCTUnwrap(newlocale(mask, "\(name).UTF-8", nil))
        let before = uselocale(locale)
        defer {
            uselocale(before)
            freelocale(locale)
        }
        body()
    }
}
