import GtkKit
import XCTest

/// Placeholders of translated texts.
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

    func testPluralsHaveTheirCount() {
        XCTAssertEqual(translatedPlural("{count} file", "{count} files", count: 1), "1 file")
        XCTAssertEqual(
            translatedPlural("{count} of {a}", "{count} files of {a}", count: 2, ["a": "{count}"]), "2 files of {count}"
        )
    }
}
