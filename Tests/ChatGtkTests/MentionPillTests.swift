import CGtk
import ChatViewModels
import Composer
import GtkTestSupport
import ToolSupport
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// Mentions in the text buffer, and on the clipboard.
final class MentionPillTests: GtkTestCase {
    private nonisolated static let ann = Mention(.member("ann"), text: "@Ann Lindqvist", short: "@Ann")
    private nonisolated static let robin = Mention(.member("robin"), text: "@Robin")

    func testMentionsAreTaggedAndEditingThemRemovesTheTag() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.load("👋 @Ann Lindqvist!", [(Self.ann, 3)])
            XCTAssertTrue(MainLoop.pump { bench.taggedRanges == [2..<16] }, "in scalars")
            bench.select(0, 0)
            bench.type("well ")
            XCTAssertTrue(MainLoop.pump { bench.taggedRanges == [7..<21] }, "it moves with the text")
            bench.select(21, 21)
            bench.type("'s")
            XCTAssertTrue(MainLoop.pump { bench.taggedRanges == [7..<21] }, "typing behind it is not of it")
            bench.select(10, 10)
            bench.type("x")
            XCTAssertTrue(MainLoop.pump { bench.taggedRanges == [] }, "HKW-60")
            bench.viewModel.handle(.undo)
            XCTAssertTrue(MainLoop.pump { bench.taggedRanges == [7..<21] }, "undo brings the pill back")
            try bench.close()
        }
    }

    /// HKW-27: after any edit, the tags cover the mentions and nothing else.
    func testTagsFollowMentionsThroughRandomEdits() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.view.currentUserEntityID = "robin"
            var random = SeededGenerator(seed: 11)
            for step in 0..<300 {
                let length = bench.displayedText.unicodeScalars.count
                switch Int.random(in: 0..<8, using: &random) {
                case 0: bench.type(["a", " ", "é", "👍🏽", "\n"][Int.random(in: 0..<5, using: &random)])
                case 1:
                    let (a, b) = (
                        Int.random(in: 0..<(length + 1), using: &random),
                        Int.random(in: 0..<(length + 1), using: &random)
                    )
                    bench.select(min(a, b), max(a, b))
                case 2: bench.emit("backspace")
                case 3: bench.viewModel.handle(.undo)
                case 4: bench.viewModel.handle(.redo)
                case 5, 6:
                    let who = Int.random(in: 0..<2, using: &random) == 0 ? Self.ann : Self.robin
                    let entity = CompletionEntity(
                        id: who.entityID, name: String(who.text.dropFirst()), target: who.target)
                    bench.viewModel.handle(.acceptEntity(entity))
                default: bench.viewModel.handle(.select(.caret(Int.random(in: 0..<(length + 1), using: &random))))
                }
                guard bench.waitForTags() else {
                    return XCTFail(
                        "step \(step): \(bench.taggedRanges) for \(bench.mentionRanges)")
                }
            }
            try bench.close()
        }
    }

    func testPillsAreDrawnBehindTheirText() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.load("@Ann Lindqvist", [(Self.ann, 0)])
            XCTAssertTrue(bench.waitForTags())
            guard let view = ComposerTextView.of(bench.textView) else { return XCTFail("the class is ours") }
            _ = bench.waitUntilIdle()
            let rectangles = view.rectangles(of: 0..<14)
            XCTAssertEqual(rectangles.count, 1)
            XCTAssertGreaterThan(rectangles.first?.width ?? 0, 50)
            bench.viewModel.handle(.load(WrittenText(String(repeating: "long line ", count: 60))))
            _ = bench.waitUntilIdle()
            XCTAssertGreaterThan(view.rectangles(of: 0..<600).count, 2, "one for each displayed line")
            try bench.close()
        }
    }

    func testCopyAndPasteBetweenWindowsPreservesMentions() throws {
        try onMain {
            let (source, target) = (try ComposerBench(), try ComposerBench())
            source.load("Hi @Ann Lindqvist", [(Self.ann, 3)])
            XCTAssertTrue(source.waitForTags())
            try RealInput.activate(source.window.window)
            source.view.grabFocus()
            try RealInput.press("ctrl+a", "ctrl+c")
            XCTAssertTrue(MainLoop.pump { source.viewModel.composer.selection.length == 17 })
            try RealInput.activate(target.window.window)
            target.view.grabFocus()
            try RealInput.press("ctrl+v")
            XCTAssertTrue(MainLoop.pump { target.displayedText == "Hi @Ann Lindqvist" }, target.displayedText)
            XCTAssertEqual(target.viewModel.document.mentions.map(\.mention), [Self.ann], "HKW-29")
            XCTAssertTrue(target.waitForTags())
            try source.close()
            try target.close()
        }
    }

    func testDraggingPreservesMentions() throws {
        try onMain {
            let bench = try ComposerBench(width: 700)
            bench.load("@Ann Lindqvist says hello", [(Self.ann, 0)])
            XCTAssertTrue(bench.waitForTags())
            try RealInput.activate(bench.window.window)
            bench.view.grabFocus()
            bench.view.bar.showsFormatting = true
            _ = bench.waitUntilIdle()
            bench.viewModel.handle(.select(TextRange(location: 0, length: 14)))
            guard let editor = bench.view.bar.binding?.editor else { return XCTFail("no editor") }
            let start = editor.rectangle(at: 4, in: bench.textView)
            let end = editor.rectangle(at: 25, in: bench.textView)
            try RealInput.point(at: bench.textView, x: Double(start.x), y: Double(start.y + start.height / 2))
            try RealInput.pressButton()
            try RealInput.move(byX: Int(end.x - start.x) + 30, y: 0)
            let place = editor.textView.location(of: editor.buffer.iterator(at: editor.scalarOffset(of: 25)))
            let isAtEnd = { ComposerTextView.of(editor.textView)?.dropCaret?.x == place.x }
            // A late drag learns about its position only from further motion events, so keep moving.
            for step in 0..<40 where !isAtEnd() { try RealInput.move(byX: step % 2 == 0 ? 2 : -2, y: 0, steps: 1) }
            try RealInput.releaseButton()
            XCTAssertTrue(
                MainLoop.pump { bench.displayedText.hasSuffix(" says hello@Ann Lindqvist") }, bench.displayedText)
            XCTAssertEqual(bench.viewModel.document.mentions.last?.mention, Self.ann)
            XCTAssertTrue(bench.waitForTags())
            bench.viewModel.handle(.undo)
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "@Ann Lindqvist says hello" }, "one step")
            XCTAssertEqual(bench.viewModel.document.mentions.map(\.range), [TextRange(location: 0, length: 14)])
            try bench.close()
        }
    }

    func testOtherApplicationsReceivePlainText() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.load("@Ann Lindqvist", [(Self.ann, 0)])
            bench.viewModel.handle(.select(TextRange(location: 0, length: 14)))
            bench.viewModel.handle(.copy)
            var text: String?
            let clipboard = Object(
                borrowing: UnsafeMutableRawPointer(gtk_widget_get_clipboard(bench.textView.cast())))
            AsyncCall.start {
                gdk_clipboard_read_text_async(clipboard.cast(), nil, $0, $1)
            } _: { _, result in
                let read = gdk_clipboard_read_text_finish(clipboard.cast(), result, nil)
                defer { g_free(read) }
                text = read.map { String(cString: $0) }
            }
            XCTAssertTrue(MainLoop.pump { text == "@Ann Lindqvist" })
            try bench.close()
        }
    }
}

extension ComposerBench {
    /// The ranges that pill tags cover, in Unicode scalars.
    fileprivate var taggedRanges: [Range<Int>] {
        var iter = GtkTextIter()
        gtk_text_buffer_get_start_iter(buffer, &iter)
        var tagged: [Range<Int>] = []
        repeat {
            let offset = Int(gtk_text_iter_get_offset(&iter))
            let tags = gtk_text_iter_get_tags(&iter)
            let isTagged = g_slist_length(tags) > 0
            g_slist_free(tags)
            guard isTagged, gtk_text_iter_is_end(&iter) == 0 else { continue }
            if let last = tagged.last, last.upperBound == offset {
                tagged[tagged.count - 1] = last.lowerBound..<offset + 1
            } else {
                tagged.append(offset..<offset + 1)
            }
        } while gtk_text_iter_forward_char(&iter) != 0
        return tagged
    }

    /// The ranges that the tags must cover, in Unicode scalars; adjacent mentions are merged.
    fileprivate var mentionRanges: [Range<Int>] {
        let document = viewModel.document
        return document.mentions.reduce(into: []) { ranges, span in
            let start = document.scalarOffset(ofUTF16: span.range.location)
            let end = document.scalarOffset(ofUTF16: span.range.end)
            if let last = ranges.last, last.upperBound == start {
                ranges[ranges.count - 1] = last.lowerBound..<end
            } else {
                ranges.append(start..<end)
            }
        }
    }

    fileprivate func load(_ text: String, _ mentions: [(Mention, Int)]) {
        let marks = mentions.map { mention, location in
            WrittenText.Mark(
                .mention(mention.target), over: TextRange(location: location, length: mention.text.utf16.count),
                short: mention.short)
        }
        viewModel.handle(.load(WrittenText(text, marks: marks)!))
    }

    fileprivate func waitForTags() -> Bool {
        MainLoop.pump { taggedRanges == mentionRanges }
    }
}
