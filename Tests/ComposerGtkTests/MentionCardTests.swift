import CGtk
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk

/// HKW-56: the card of the mention under the caret or the pointer.
final class MentionCardTests: GtkTestCase {
    @MainActor
    private static func bench(
        asked: @escaping (String) -> Void = { _ in }, _ pressed: @escaping (String) -> Void = { _ in }
    ) throws -> HostBench {
        let bench = try HostBench { bar in
            bar.makeMentionCard = { mention in
                asked(mention.entityID)
                guard mention.entityID != "nobody" else { return nil }
                let button = Button(sinking: gtk_button_new_with_label("Message \(mention.text)"))
                button.onClick { pressed(mention.entityID) }
                return button
            }
        }
        let marks = [("ann", 3, 14), ("nobody", 22, 7)].map { id, start, length in
            WrittenText.Mark(.mention(.member(id)), over: TextRange(location: start, length: length))
        }
        let text = try XCTUnwrap(WrittenText("Hi @Ann Lindqvist and @Nobody here", marks: marks))
        bench.session.handle(.load(text))
        return bench
    }

    func testCaretInAMentionOpensItsCard() throws {
        try onMain {
            var asked: [String] = []
            let bench = try Self.bench(asked: { asked.append($0) })
            let cards = try XCTUnwrap(bench.bar.binding?.cards)
            try RealInput.press("ctrl+Home", "Right", "Right", "Right", "Right", "Right")
            XCTAssertTrue(
                MainLoop.pump { cards.isOpen && cards.widget.button("Message @Ann Lindqvist") != nil }, "HKW-56")
            XCTAssertTrue(bench.text.hasFocus, "HKW-56: writing goes on")
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { !cards.isOpen }, "HKW-56: Escape closes it, and nothing else")
            XCTAssertTrue(bench.text.hasFocus)
            try RealInput.press("Right")
            XCTAssertTrue(MainLoop.pump { bench.caret == 6 })
            XCTAssertFalse(cards.isOpen, "HKW-56: it stays closed for this mention")
            try RealInput.press("ctrl+Home")
            XCTAssertTrue(MainLoop.pump { bench.caret == 0 && bench.state.highlightedMention == nil })
            try RealInput.press("Right", "Right", "Right", "Right")
            XCTAssertTrue(MainLoop.pump { cards.isOpen }, "HKW-56: and comes when the caret comes again")
            try RealInput.type("x")
            XCTAssertTrue(MainLoop.pump { !cards.isOpen }, "HKW-60: no mention, no card")
            try RealInput.press("ctrl+End", "ctrl+Left", "Left", "Left")
            XCTAssertTrue(MainLoop.pump { asked.last == "nobody" })
            XCTAssertFalse(cards.isOpen, "the host makes none for some")
            bench.close()
        }
    }

    func testTabEntersTheCardAndEscapeReturns() throws {
        try onMain {
            var pressed: [String] = []
            let bench = try Self.bench { pressed.append($0) }
            let cards = try XCTUnwrap(bench.bar.binding?.cards)
            try RealInput.press("ctrl+Home", "Right", "Right", "Right", "Right")
            XCTAssertTrue(MainLoop.pump { cards.isOpen })
            try RealInput.press("Tab")
            XCTAssertTrue(
                MainLoop.pump { cards.widget.button("Message @Ann Lindqvist")?.hasFocus == true }, "HKW-56: by key")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { pressed == ["ann"] })
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { !cards.isOpen && bench.text.hasFocus }, "HKW-56: and back in the text")
            bench.close()
        }
    }

    func testHoveringAMentionOpensItsCard() throws {
        try onMain {
            var pressed: [String] = []
            let bench = try Self.bench { pressed.append($0) }
            let cards = try XCTUnwrap(bench.bar.binding?.cards)
            let editor = try XCTUnwrap(bench.bar.binding?.editor)
            // The text is measured where it will be when the window has its size.
            try RealInput.waitForFrames(30, of: bench.text)
            let place = editor.rectangle(at: 6, in: bench.text)
            try RealInput.point(at: bench.text, x: Double(place.x), y: Double(place.y) + 8)
            XCTAssertTrue(MainLoop.pump { cards.isOpen }, "HKW-56: the pointer rests on it")
            let button = try XCTUnwrap(cards.widget.button("Message @Ann Lindqvist"))
            try bench.click(button)
            XCTAssertTrue(MainLoop.pump { pressed == ["ann"] }, "HKW-56: it can be gone to and pressed")
            let end = editor.rectangle(at: 32, in: bench.text)
            try RealInput.point(at: bench.text, x: Double(end.x), y: Double(end.y) + 8)
            XCTAssertTrue(MainLoop.pump { !cards.isOpen }, "HKW-56: it goes with the pointer")
            bench.close()
        }
    }
}
