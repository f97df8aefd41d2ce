import CGtk
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// What is selected is pasted by the middle button.
final class PrimarySelectionTests: GtkTestCase {
    private nonisolated static let ann = Mention(.member("ann"), text: "@Ann", short: nil)

    @MainActor
    private static func load(_ text: String, _ bench: HostBench) {
        bench.session.handle(.load(WrittenText(text, mentioning: [ann])))
    }

    func testMiddleClickPreservesMentionsWithinTheText() throws {
        try onMain {
            let bench = try HostBench(width: 700)
            Self.load("@Ann says hello", bench)
            XCTAssertTrue(bench.waits(for: "@Ann says hello"))
            bench.session.handle(.select(TextRange(location: 0, length: 4)))
            // Right of the text, the nearest place is its end.
            try RealInput.point(at: bench.text, x: Double(bench.text.width - 20), y: Double(bench.text.height / 2))
            try RealInput.click(button: 2)
            XCTAssertTrue(bench.waits(for: "@Ann says hello@Ann"), bench.displayedText)
            XCTAssertEqual(bench.session.document.mentions.map(\.mention), [Self.ann, Self.ann])
            bench.session.handle(.undo)
            XCTAssertEqual(bench.bar.text, "@Ann says hello", "one step")
            bench.close()
        }
    }

    /// HKW-29: the middle button preserves mentions, as the clipboard does.
    func testMiddleClickPreservesMentionsInAnotherComposer() throws {
        try onMain {
            let source = try HostBench()
            Self.load("Hi @Ann", source)
            XCTAssertTrue(source.waits(for: "Hi @Ann"))
            source.session.handle(.select(TextRange(location: 0, length: 7)))
            let target = try HostBench()
            try RealInput.point(at: target.text)
            try RealInput.click(button: 2)
            XCTAssertTrue(target.waits(for: "Hi @Ann"), target.displayedText)
            XCTAssertEqual(target.session.document.mentions.map(\.mention), [Self.ann])
            source.close()
            target.close()
        }
    }

    func testTextOfAnotherTextViewIsPasted() throws {
        try onMain {
            let bench = try HostBench()
            let other = TextView()
            other.buffer.setText("plain words")
            bench.column.append(other)
            XCTAssertTrue(MainLoop.pump { other.isMapped && other.height > 0 })
            other.buffer.select(0..<5)
            try RealInput.point(at: bench.text)
            try RealInput.click(button: 2)
            XCTAssertTrue(bench.waits(for: "plain"), bench.displayedText)
            bench.close()
        }
    }
}
