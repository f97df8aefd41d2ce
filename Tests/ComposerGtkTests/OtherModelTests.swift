import CGtk
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// A bar that shows one model after another.
final class OtherModelTests: GtkTestCase {
    @MainActor
    private static func model(_ text: String) -> ComposerSession {
        let session = ComposerSession()
        session.handle(.load(WrittenText(text)))
        return session
    }

    func testAnotherModelHasTheBarToItself() throws {
        try onMain {
            let bench = try HostBench { $0.acceptsFiles = true }
            let bar = bench.bar
            let (first, second) = (Self.model("first"), Self.model("second\nline"))
            bar.model = first
            XCTAssertEqual(bench.displayedText, "first")
            first.handle(.select(TextRange(location: 1, length: 2)))
            first.handle(.reply(ReplyTarget(messageID: "1", sender: "Ann", preview: .text("Hello"))))
            XCTAssertTrue(
                MainLoop.pump { bar.widgets.reply.isRevealed && bar.binding?.selectionToolbar.isOpen == true })
            weak let left = bar.binding
            let text = bench.text
            bar.model = second
            XCTAssertNil(left, "nothing holds what was bound to the other model")
            XCTAssertFalse(text.isSame(as: bench.text))
            XCTAssertNil(text.parent)
            XCTAssertEqual(bench.displayedText, "second\nline")
            XCTAssertFalse(bar.widgets.reply.isRevealed)
            XCTAssertFalse(first.composer.isFocused)
            first.handle(.insert("late", origin: .code))
            XCTAssertEqual(bench.displayedText, "second\nline")
            XCTAssertTrue(MainLoop.pump { bench.text.hasFocus && second.composer.isFocused })
            try RealInput.type("x")
            XCTAssertTrue(MainLoop.pump { second.document.text.contains("x") })
            XCTAssertEqual(first.document.text, "flatest")
            try bench.click(bar.widgets.sendButton)
            XCTAssertTrue(MainLoop.pump { second.document.text.isEmpty }, "the button sends the text that is shown")
            XCTAssertEqual(first.document.text, "flatest")
            bar.model = first
            XCTAssertEqual(bench.displayedText, "flatest")
            XCTAssertTrue(MainLoop.pump { bar.widgets.reply.isRevealed })
            first.handle(.undo)
            XCTAssertEqual(bench.displayedText, "first")
            bench.close()
        }
    }

    func testModelsLeaveNothingInTheBar() throws {
        try onMain {
            let bench = try HostBench { $0.acceptsFiles = true }
            let models = [Self.model("one @x"), Self.model("*two*")]
            var (closures, widgets) = (0, 0)
            for round in 0..<12 {
                bench.bar.model = models[round % 2]
                var frames = 0
                bench.text.addTick {
                    frames += 1
                    return frames < 3
                }
                XCTAssertTrue(MainLoop.pump { frames == 3 && bench.text.isMapped })
                if round == 2 { (closures, widgets) = (ClosureCount.live, bench.widget.descendants.count) }
                if round == 10 {
                    XCTAssertTrue(
                        MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures) closures")
                    XCTAssertTrue(MainLoop.pump { bench.widget.descendants.count == widgets })
                }
            }
            bench.close()
        }
    }

    func testTextOfAnotherModelIsLaidOutAtOnce() throws {
        try onMain {
            let bench = try HostBench()
            ComposerBarLayoutTests.setAnimations(false)
            defer { ComposerBarLayoutTests.setAnimations(true) }
            let before = bench.heights()
            bench.bar.model = Self.model("a line of text")
            XCTAssertEqual(Set(bench.heights()), Set(before.suffix(1)), "as high in every frame as with the other line")
            bench.close()
        }
    }

    /// An input method's preedit belongs to the text view that goes.
    func testPreeditEndsWithItsTextView() throws {
        try onMain {
            let bench = try HostBench()
            let (first, second) = (Self.model("first"), Self.model(""))
            bench.bar.model = first
            first.handle(.preedit("か"))
            XCTAssertFalse(first.composer.preedit.isEmpty)
            bench.bar.model = second
            XCTAssertEqual(first.composer.preedit, "", "its keys would not be handled otherwise")
            XCTAssertEqual(second.composer.preedit, "")
            bench.close()
        }
    }

    /// SLK-36: ⚠ the host's area was that of the first model alone.
    func testDropAreaOfTheHostStays() throws {
        try onMain {
            let files = TemporaryFolder()
            let file = files.path("dropped.txt")
            try Data("content".utf8).write(to: file)
            let bench = try HostBench { $0.acceptsFiles = true }
            let source = Label("drag me")
            gtk_box_prepend(bench.column.cast(), source.cast())
            source.offerDrag(of: file)
            let other = Self.model("")
            bench.bar.acceptDrops(on: bench.column)
            bench.bar.model = other
            XCTAssertTrue(MainLoop.pump { source.isMapped && source.height > 0 })
            try RealInput.point(at: source)
            try RealInput.pressButton()
            try RealInput.move(byX: 0, y: 100)
            let isHighlighted = { bench.column.hasStyle("drop-target") }
            // A late drag learns about its target only from further motion events, so keep moving.
            for step in 0..<40 where !isHighlighted() {
                try RealInput.move(byX: step % 2 == 0 ? 2 : -2, y: 0, steps: 1)
            }
            XCTAssertTrue(MainLoop.pump(until: isHighlighted), "SLK-36: outside of the bar")
            try RealInput.releaseButton()
            XCTAssertTrue(MainLoop.pump { other.composer.attachments.map(\.name) == ["dropped.txt"] }, "SLK-36")
            XCTAssertTrue(MainLoop.pump { !isHighlighted() })
            XCTAssertTrue(MainLoop.pump { other.composer.attachments.allSatisfy { $0.upload == .ready } })
            bench.close()
        }
    }

    func testReplacedTextStaysReplaced() throws {
        try onMain {
            let bench = try HostBench()
            bench.bar.replaceMiddle(by: Label("Join"))
            bench.bar.model = Self.model("first")
            XCTAssertTrue(MainLoop.pump { !bench.bar.widgets.send.isRevealed })
            bench.bar.replaceMiddle(by: nil)
            XCTAssertTrue(MainLoop.pump { bench.bar.widgets.send.isRevealed && bench.text.isMapped })
            bench.close()
        }
    }
}
