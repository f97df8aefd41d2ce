import CGtk
import ChatViewModels
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import ToolSupport
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// Styles that Markdown does not have, in the bar (HKW-13 to HKW-16, SLK-35).
final class StyleTests: GtkTestCase {
    private nonisolated static let styles: [TextStyle] = [
        .bold, .italic, .underline, .strikethrough, .monospace, .foreground("#C01C28"), .background("#F9F06B"),
        .scale(1.5), .family("serif"), .fontFeatures("smcp"), .letterSpacing(2), .rise(3), .link("https://a.example"),
    ]

    /// HKW-13: each style is drawn on exactly its range, extends to text typed within, and survives drafts and undo.
    func testStylesAreDrawnOnTheirRange() throws {
        try onMain {
            let bench = try StyleBench()
            bench.session.handle(.load(WrittenText("plain styled plain")))
            for style in Self.styles {
                bench.session.handle(.select(TextRange(location: 6, length: 6)))
                bench.session.handle(.setStyle(style, true))
                let expected = (0..<18).map { (6..<12).contains($0) ? 1 : 0 }
                XCTAssertTrue(MainLoop.pump { bench.looks == expected }, "\(style): \(bench.looks)")
                bench.session.handle(.clearStyles)
                XCTAssertTrue(MainLoop.pump { bench.looks.allSatisfy { $0 == 0 } }, "\(style)")
                bench.session.handle(.undo)
                XCTAssertTrue(MainLoop.pump { bench.looks[6..<12].allSatisfy { $0 == 1 } }, "\(style): undone")
                bench.session.handle(.redo)
            }
            bench.close()
        }
    }

    /// HKW-15, HKW-16, SLK-35: typing uses the chosen style; a shortcut clears it; the remaining styles are sent.
    func testTypingUsesTheChosenStyleAndAShortcutClearsIt() throws {
        try onMain {
            let bench = try StyleBench()
            var sent: [WrittenText] = []
            bench.session.onSend = { sent.append($0.text) }
            bench.bar.grabFocus()
            bench.session.handle(.setStyle(.foreground("#C01C28"), true))
            try RealInput.type("red word")
            XCTAssertTrue(MainLoop.pump { bench.looks == [Int](repeating: 1, count: 8) }, "HKW-15: \(bench.looks)")
            try RealInput.press("ctrl+shift+Left", "ctrl+backslash")
            XCTAssertTrue(MainLoop.pump { bench.looks == [1, 1, 1, 1, 0, 0, 0, 0] }, "SLK-35: \(bench.looks)")
            try RealInput.press("ctrl+z")
            XCTAssertTrue(MainLoop.pump { bench.looks == [Int](repeating: 1, count: 8) }, "\(bench.looks)")
            let draft = try ComposerDraft.decode(bench.session.makeDraft().encoded())
            XCTAssertEqual(draft.content.written.marks.count, 1, "HKW-16")
            try RealInput.press("Return")
            let red = WrittenText.Mark(.style(.foreground("#C01C28")), over: TextRange(location: 0, length: 8))
            XCTAssertTrue(MainLoop.pump { sent == [WrittenText("red word", marks: [red])] }, "\(sent)")
            bench.close()
        }
    }

    /// SLK-35: the menu's Clear Formatting acts on the selection and is sensitive only if that has styles.
    func testMenuClearsFormatting() throws {
        try onMain {
            let bench = try StyleBench()
            let menu = try XCTUnwrap(bench.bar.binding?.menu)
            bench.bar.grabFocus()
            bench.session.handle(.load(WrittenText("word")))
            bench.session.handle(.select(TextRange(location: 0, length: 4)))
            for isStyled in [false, true] {
                if isStyled { bench.session.handle(.setStyle(.bold, true)) }
                try RealInput.press("Menu")
                XCTAssertTrue(MainLoop.pump { menu.isOpen })
                let item = try XCTUnwrap(
                    bench.bar.widget.descendants.first {
                        gtk_widget_get_css_name($0.cast()).map { String(cString: $0) } == "modelbutton" && $0.isMapped
                            && $0.visibleTexts == ["Clear Formatting"]
                    })
                XCTAssertEqual(item.isSensitive, isStyled)
                if isStyled {
                    try RealInput.point(at: item)
                    try RealInput.click()
                } else {
                    try RealInput.press("Escape")
                }
                XCTAssertTrue(MainLoop.pump { !menu.isOpen })
            }
            XCTAssertTrue(MainLoop.pump { bench.looks == [0, 0, 0, 0] })
            bench.close()
        }
    }

    /// The drawn tags match the document after any edit.
    func testDrawnStylesMatchTheDocumentAfterRandomEdits() throws {
        try onMain {
            let bench = try StyleBench()
            var random = SeededGenerator(seed: 3)
            func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
            for step in 0..<300 {
                let length = bench.session.document.length
                let start = number(length + 1)
                bench.session.handle(.select(TextRange(location: start, length: number(3) == 0 ? number(8) : 0)))
                switch number(6) {
                case 0, 1: bench.session.handle(.insert(["a", "👍🏽", "é\n"][number(3)], origin: .typed))
                case 2: bench.session.handle(.deleteBackward(byWord: number(4) == 0))
                case 3: bench.session.handle(.setStyle(Self.styles[number(Self.styles.count)], number(3) > 0))
                case 4: bench.session.handle(number(2) == 0 ? .undo : .redo)
                default: bench.session.handle(.pasteInternalClipboard)
                }
                guard MainLoop.pump(until: { bench.looks == bench.expected }) else {
                    return XCTFail("step \(step): \(bench.looks) for \(bench.expected)")
                }
            }
            bench.close()
        }
    }

    /// Extreme values from a draft or the clipboard are clamped.
    func testExtremeStyleValuesAreClamped() throws {
        try onMain {
            let bench = try StyleBench()
            bench.session.handle(.load(WrittenText("word")))
            bench.session.handle(.select(TextRange(location: 0, length: 4)))
            for style in [TextStyle.scale(1e9), .scale(.nan), .rise(-1e30), .letterSpacing(.infinity)] {
                bench.session.handle(.setStyle(style, true))
            }
            bench.session.handle(.setStyle(.foreground("no colour"), true))
            XCTAssertTrue(MainLoop.pump { bench.bar.textWidget.height < 400 && bench.looks.allSatisfy { $0 == 3 } })
            bench.close()
        }
    }

    /// Middle-click inserts as a paste at the pointer: no list continuation, no closing delimiters.
    func testMiddleClickPastes() throws {
        try onMain {
            let bench = try StyleBench()
            try RealClipboard.offerSelection("- one\n- two\n")
            defer { RealClipboard.end() }
            bench.session.handle(.load(WrittenText("- list")))
            bench.bar.grabFocus()
            try RealInput.point(at: bench.bar.textWidget)
            try RealInput.click(button: 2)
            XCTAssertTrue(MainLoop.pump { bench.bar.text == "- list- one\n- two\n" }, bench.bar.text)
            bench.session.handle(.undo)
            XCTAssertEqual(bench.bar.text, "- list", "one step")
            bench.close()
        }
    }
}

/// A bar with its own session.
@MainActor
private final class StyleBench {
    let bar: ComposerBar
    let session: ComposerSession
    private let window: TestWindow

    init() throws {
        try ComposerBar.register()
        let widget = ComposerBar.make()
        bar = try XCTUnwrap(ComposerBar.of(widget))
        bar.stylesMarkdown = false
        session = bar.session
        window = TestWindow(widget)
        try RealInput.activate(window.window)
    }

    /// The number of tags on each character of the text view.
    var looks: [Int] {
        guard let buffer = gtk_text_view_get_buffer(bar.textWidget.cast()) else { return [] }
        return (0..<Int(gtk_text_buffer_get_char_count(buffer))).map { offset in
            var iter = GtkTextIter()
            gtk_text_buffer_get_iter_at_offset(buffer, &iter, Int32(offset))
            let tags = gtk_text_iter_get_tags(&iter)
            defer { g_slist_free(tags) }
            return Int(g_slist_length(tags))
        }
    }

    /// The number of styles on each character of the document.
    var expected: [Int] {
        let document = session.document
        var counts = [Int](repeating: 0, count: document.scalarCount)
        for span in document.spans where span.style != nil {
            let start = document.scalarOffset(ofUTF16: span.range.location)
            for place in start..<document.scalarOffset(ofUTF16: span.range.end) { counts[place] += 1 }
        }
        return counts
    }

    func close() { window.close() }
}
