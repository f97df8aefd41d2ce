import CGtk
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import Foundation
import GtkTestSupport
import LocalBackend
import Spelling
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// PAR-1 to PAR-4: spell checking in a room's composer, with the installed dictionaries.
final class EditorSpellingTests: GtkTestCase {
    /// The folder in which Enchant stores the words that tests add.
    private static let words: TemporaryFolder? = {
        let folder = TemporaryFolder()
        setenv("ENCHANT_CONFIG_DIR", folder.url.path, 1)
        // If Enchant prefers Aspell, that has its own word list in the home folder.
        setenv("ASPELL_CONF", "home-dir \(folder.url.path)", 1)
        return folder
    }()

    @MainActor
    private static func makeBench(_ languages: [String] = ["en_US"]) throws -> ComposerBench {
        _ = try XCTUnwrap(words)
        let bench = try ComposerBench(width: 700, spelling: .dictionaries(languages))
        try RealInput.activate(bench.window.window)
        bench.view.grabFocus()
        return bench
    }

    func testWordIsUnderlinedOnceItIsFinished() throws {
        try onMain {
            let bench = try Self.makeBench()
            var seen: Set<String> = []
            @MainActor func waits(for words: [String]) -> Bool {
                MainLoop.pump {
                    seen.formUnion(bench.underlined)
                    return bench.underlined == words
                }
            }
            try RealInput.type("teh wrod")
            XCTAssertTrue(waits(for: ["teh"]), "\(bench.underlined)")
            try RealInput.type(" ")
            XCTAssertTrue(waits(for: ["teh", "wrod"]), "\(bench.underlined)")
            try RealInput.press("BackSpace", "BackSpace", "BackSpace", "BackSpace")
            XCTAssertTrue(waits(for: ["teh"]), "\(bench.underlined)")
            try RealInput.type("ord ")
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "teh word " })
            try RealInput.press("Home", "Delete")
            XCTAssertTrue(waits(for: []), "\(bench.underlined)")
            XCTAssertEqual(seen, ["teh", "wrod"], "no word before it was finished")
            try bench.close()
        }
    }

    func testMenuKeyAppliesASuggestionUndoably() throws {
        try onMain {
            let bench = try Self.makeBench()
            let menu = try XCTUnwrap(bench.view.bar.binding?.menu)
            try RealInput.type("one wrod two ")
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["wrod"] })
            bench.select(6, 6)
            try RealInput.press("Menu")
            XCTAssertTrue(MainLoop.pump { bench.item("word") != nil }, "suggestions arrive")
            for _ in 0..<20 where bench.focusedItem != "word" {
                let before = bench.focusedItem
                try RealInput.press("Down")
                XCTAssertTrue(MainLoop.pump { bench.focusedItem != before })
            }
            XCTAssertEqual(bench.focusedItem, "word")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "one word two " && !menu.isOpen }, bench.displayedText)
            XCTAssertTrue(MainLoop.pump { bench.underlined.isEmpty && bench.textView.hasFocus })
            try RealInput.press("ctrl+z")
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "one wrod two " }, bench.displayedText)
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["wrod"] }, "the underline comes back with the word")
            try bench.close()
        }
    }

    func testPointerAppliesASuggestion() throws {
        try onMain {
            let bench = try Self.makeBench()
            try RealInput.type("one wrod two ")
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["wrod"] })
            let place = bench.place(at: 6)
            try RealInput.point(at: bench.textView, x: place.x, y: place.y)
            try RealInput.click(button: 3)
            XCTAssertTrue(MainLoop.pump { bench.item("word") != nil }, "suggestions arrive")
            try RealInput.point(at: try XCTUnwrap(bench.item("word")))
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "one word two " }, bench.displayedText)
            XCTAssertEqual(bench.selection.0, 13, "the caret stays at the end")
            // The menu of a correct word offers no correction.
            try RealInput.point(at: bench.textView, x: bench.place(at: 1).x, y: place.y)
            try RealInput.click(button: 3)
            XCTAssertTrue(MainLoop.pump { bench.item("Spelling Languages") != nil })
            XCTAssertNil(bench.item("Ignore Word"))
            try RealInput.press("Escape")
            try bench.close()
        }
    }

    func testIgnoredAndAddedWordsLoseTheirUnderline() throws {
        try onMain {
            let bench = try Self.makeBench()
            try RealInput.type("wrod tpyo ")
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["wrod", "tpyo"] })
            bench.select(1, 1)
            try RealInput.press("Menu")
            XCTAssertTrue(MainLoop.pump { bench.item("Ignore Word") != nil })
            XCTAssertTrue(bench.textView.activateAction("composer.ignore-word"))
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["tpyo"] })
            try RealInput.press("Escape", "End")
            try RealInput.type("wrod anohter ")
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["tpyo", "anohter"] }, "\(bench.underlined)")
            bench.select(6, 6)
            try RealInput.press("Menu")
            XCTAssertTrue(MainLoop.pump { bench.item("Add to Dictionary") != nil })
            XCTAssertTrue(bench.textView.activateAction("composer.add-word", "en_US"))
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["anohter"] }, "\(bench.underlined)")
            try RealInput.press("Escape")
            let own = try XCTUnwrap(Self.words).url.appending(path: "en_US.dic")
            XCTAssertEqual(try String(contentsOf: own, encoding: .utf8), "tpyo\n")
            try bench.close()
        }
    }

    func testPasteIsChecked() throws {
        try onMain {
            let bench = try Self.makeBench()
            bench.textView.withPointer { gdk_clipboard_set_text(gtk_widget_get_clipboard($0), "a wrod and teh end") }
            try RealInput.press("ctrl+v")
            XCTAssertTrue(
                MainLoop.pump { bench.underlined == ["wrod", "teh"] }, "\(bench.displayedText): \(bench.underlined)")
            try bench.close()
        }
    }

    func testCodeLinksMentionsCommandsAndPreeditAreNotUnderlined() throws {
        try onMain {
            let bench = try Self.makeBench()
            let mention = Mention(.custom("1"), text: "Wrodbert Teh")
            bench.viewModel.handle(
                .load(
                    WrittenText(
                        "/teh Wrodbert Teh wrod `teh` [teh](teh) https://teh.org teh@teh.org :teh:\n```\nteh\n```",
                        mentioning: [mention])))
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["wrod"] }, "\(bench.underlined)")
            bench.viewModel.handle(.clear)
            bench.viewModel.handle(.preedit("teh"))
            bench.viewModel.handle(.edit(.caret(0), replacement: "teh ", origin: .code))
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["teh"] }, "what is composed is no part of the text")
            bench.viewModel.handle(.commit("wrod "))
            XCTAssertTrue(MainLoop.pump { bench.underlined.count == 2 }, "\(bench.displayedText): \(bench.underlined)")
            try bench.close()
        }
    }

    func testSeveralLanguagesAndARoomsOwn() throws {
        try onMain {
            let bench = try Self.makeBench()
            bench.type("Fenster window كتاب ")
            XCTAssertTrue(
                MainLoop.pump { bench.underlined == ["Fenster", "كتاب"] }, "\(bench.displayedText): \(bench.underlined)"
            )
            try RealInput.press("Menu")
            XCTAssertTrue(MainLoop.pump { bench.item("Spelling Languages") != nil })
            XCTAssertTrue(MainLoop.pump { bench.textView.isEnabled("composer.language-de-DE") })
            XCTAssertTrue(bench.textView.activateAction("composer.language-de-DE"))
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["كتاب"] }, "\(bench.underlined)")
            XCTAssertTrue(bench.textView.activateAction("composer.language-ar"))
            XCTAssertTrue(MainLoop.pump { bench.underlined.isEmpty }, "\(bench.underlined)")
            try RealInput.press("Escape")
            let room = bench.viewModel.roomID
            let backend = bench.fixture.backend
            var stored: [String]?
            let end = ContinuousClock.now + .seconds(20)
            while stored?.count != 3, ContinuousClock.now < end {
                stored = try finish { try await backend.writingLanguages(in: room) }
            }
            XCTAssertEqual(stored, ["en_US", "de_DE", "ar"])
            try bench.close()
        }
    }

    /// In Arabic, a letter's shape depends on its neighbors, so an underline must not split a run of text.
    func testUnderlineMovesNoGlyph() throws {
        try onMain {
            for text in ["Tell wrrod, “teh” AVAV ", "هذا كتاببببب، جميل وطوييييل ", "نص teh عربي wrod "] {
                let bench = try Self.makeBench(["en_US", "ar"])
                bench.viewModel.handle(.load(WrittenText(text)))
                _ = bench.waitUntilIdle()
                let before = bench.places
                XCTAssertTrue(MainLoop.pump { !bench.underlined.isEmpty }, text)
                _ = bench.waitUntilIdle()
                XCTAssertEqual(bench.places, before, text)
                try bench.close()
            }
        }
    }

    func testNothingIsMadeWhileOff() throws {
        try onMain {
            let bench = try ComposerBench()
            let tags = gtk_text_tag_table_get_size(gtk_text_buffer_get_tag_table(bench.buffer))
            bench.type("teh wrod ")
            _ = bench.waitUntilIdle()
            XCTAssertNil(bench.viewModel.spelling)
            XCTAssertEqual(gtk_text_tag_table_get_size(gtk_text_buffer_get_tag_table(bench.buffer)), tags)
            try bench.close()
        }
    }
}

/// PAR-2: the menu, with real touch events.
final class EditorSpellingFingerTests: GtkTestCase {
    override func setUpWithError() throws {
        try onMain { try Fingers.require() }
        try super.setUpWithError()
    }

    func testLongPressOpensTheMenuAtTheWord() throws {
        try onMain {
            let bench = try ComposerBench(width: 700, spelling: .dictionaries(["en_US"]))
            gtk_window_fullscreen(bench.window.window.cast())
            XCTAssertTrue(MainLoop.pump { bench.window.window.height == 800 })
            try RealInput.activate(bench.window.window)
            bench.viewModel.handle(.load(WrittenText("one wrod two")))
            XCTAssertTrue(MainLoop.pump { bench.underlined == ["wrod"] })
            let place = bench.place(at: 6)
            let point = try XCTUnwrap(bench.textView.translate(x: place.x, y: place.y, to: bench.window.window))
            try Fingers.touch(.begin, x: point.x, y: point.y)
            XCTAssertTrue(MainLoop.pump { bench.item("word") != nil })
            try Fingers.lift(x: point.x, y: point.y, over: bench.textView)
            XCTAssertTrue(bench.view.bar.binding?.menu.isOpen ?? false, "lifting the finger does not close it")
            XCTAssertTrue(bench.textView.activateAction("composer.correct", "word"))
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "one word two" }, bench.displayedText)
            try bench.close()
        }
    }
}

extension ComposerBench {
    /// The words with the underline of misspelled ones.
    var underlined: [String] {
        let scalars = Array(displayedText.unicodeScalars)
        var (words, word) = ([String](), "")
        for (offset, scalar) in scalars.enumerated() {
            if isUnderlined(at: offset) {
                word.unicodeScalars.append(scalar)
            } else if !word.isEmpty {
                words.append(word)
                word = ""
            }
        }
        return word.isEmpty ? words : words + [word]
    }

    private func isUnderlined(at offset: Int) -> Bool {
        TextBuffer(borrowing: UnsafeMutableRawPointer(buffer)).iterator(at: offset).tags.contains { tag in
            var value = GValue()
            g_value_init(&value, pango_underline_get_type())
            defer { g_value_unset(&value) }
            g_object_get_property(tag.cast(), "underline", &value)
            return g_value_get_enum(&value) == gint(PANGO_UNDERLINE_ERROR.rawValue)
        }
    }

    /// The center of a character, in the text view's coordinates.
    func place(at offset: Int) -> (x: Double, y: Double) {
        let view = TextView(borrowing: textView.pointer)
        let frame = view.rectangle(of: view.buffer.iterator(at: offset))
        return (Double(frame.x) + Double(frame.width) / 2, Double(frame.y) + Double(frame.height) / 2)
    }

    /// The rectangles of all characters, in buffer coordinates.
    fileprivate var places: [[Int32]] {
        let view = TextView(borrowing: textView.pointer)
        return (0...displayedText.unicodeScalars.count).map { offset in
            let frame = view.location(of: view.buffer.iterator(at: offset))
            return [frame.x, frame.y, frame.width, frame.height]
        }
    }

    /// The visible item of an open menu with a label.
    func item(_ text: String) -> Widget? {
        guard let menu = view.bar.binding?.menu, menu.isOpen else { return nil }
        return Self.labels(in: window.window).first { $0.label == text }?.widget
    }

    fileprivate var focusedItem: String? {
        textView.root?.focus.flatMap { Self.labels(in: $0).first?.label }
    }

    private static func labels(in widget: Widget) -> [(label: String, widget: Widget)] {
        if shim_is_a(widget.pointer, gtk_label_get_type()) != 0, widget.isMapped {
            let text = gtk_label_get_text(widget.cast()).map { String(cString: $0) } ?? ""
            return [(text, widget)]
        }
        return widget.children.flatMap { labels(in: $0) }
    }
}
