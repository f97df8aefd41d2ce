import CGtk
import ChatCore
import ChatViewModels
import Composer
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// Mentions and formatting survive sending, undo, editing, copying, pasting and replying.
final class WrittenMessageTests: GtkTestCase {
    private nonisolated static let text = WrittenText(
        "**hi** @Alex\n\n- one\n- two", mentioning: [Mention(.member("alex"), text: "@Alex")])

    func testSentMessageKeepsItsMentionsAndMarkdown() throws {
        try onMain {
            let bench = try ConversationBench(3)
            let composer = bench.conversation.composer
            bench.view.focusComposer()
            composer.handle(.load(Self.text))
            try bench.press("Return")
            XCTAssertTrue(bench.wait { bench.model.lastEditable?.text.contains("hi") ?? false })
            // Undo restores the source as written.
            try bench.press("ctrl+z")
            XCTAssertTrue(bench.wait { composer.document.written == Self.text })
            try bench.press("ctrl+shift+z")
            XCTAssertTrue(bench.wait { composer.document.isEmpty })
            // Editing opens the source as written and keeps its mentions.
            try bench.press("Up")
            XCTAssertTrue(bench.wait { composer.state.composer.editing != nil })
            XCTAssertEqual(composer.document.text, Self.text.source)
            XCTAssertEqual(composer.document.mentions.compactMap(\.mention?.target), [.member("alex")])
            try bench.input("type", "--delay", "20", " three")
            try bench.press("Return")
            XCTAssertTrue(bench.wait { bench.model.lastEditable?.isEdited ?? false })
            XCTAssertEqual(bench.model.lastEditable?.body.mentions, [.member("alex")])
            // Copy from the timeline, then paste.
            bench.timeline.grabFocus()
            try bench.press("ctrl+c")
            let formats = gdk_clipboard_get_formats(gtk_widget_get_clipboard(bench.list.widget.cast()))
            for type in [ClipboardFragment.mediaType, "text/html"] {
                XCTAssertNotEqual(gdk_content_formats_contain_mime_type(formats, type), 0, type)
            }
            bench.view.focusComposer()
            try bench.press("ctrl+v")
            XCTAssertTrue(bench.wait { composer.document.text == Self.text.source + " three" }, composer.document.text)
            XCTAssertEqual(composer.document.mentions.compactMap(\.mention?.target), [.member("alex")])
            try bench.close()
        }
    }

    /// The reply bar and the timeline show a quote's mentions as pills.
    func testQuoteKeepsItsMentionPill() throws {
        try onMain {
            let bench = try ConversationBench(3)
            let composer = bench.conversation.composer
            composer.handle(.load(Self.text))
            composer.handle(.send)
            XCTAssertTrue(bench.wait { bench.model.lastEditable?.text.contains("hi") ?? false })
            bench.timeline.grabFocus()
            try bench.press("Down", "r")
            XCTAssertTrue(bench.wait { composer.state.composer.reply != nil })
            guard case .text(let quoted)? = composer.state.composer.reply?.preview else {
                return XCTFail("no preview: \(composer.state.composer.reply as Any)")
            }
            XCTAssertEqual(quoted.mentions.map(\.text), ["@Alex"])
            let label = bench.view.composer.bar.widgets.replyQuote
            XCTAssertTrue(bench.wait { label.text == quoted.source })
            XCTAssertNotNil(pango_attr_list_get_attributes(gtk_label_get_attributes(label.cast())))
            try bench.close()
        }
    }

    /// The edit bar warns about content that saving would lose.
    func testEditBarWarnsAboutLostContent() throws {
        try onMain {
            let bench = try ConversationBench(3)
            let composer = bench.conversation.composer
            let parts = bench.view.composer.bar.widgets
            composer.send(.startEdit(MessageID("m2"), WrittenText("words"), warning: "Saving removes a table"))
            XCTAssertTrue(
                bench.wait { parts.editWarning.isVisible && parts.editWarning.text == "Saving removes a table" })
            composer.handle(.cancelEdit)
            composer.send(.startEdit(MessageID("m1"), WrittenText("words")))
            XCTAssertTrue(bench.wait { !parts.editWarning.isVisible })
            try bench.close()
        }
    }
}
