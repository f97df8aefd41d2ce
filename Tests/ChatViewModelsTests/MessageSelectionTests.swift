import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Foundation
import Testing

/// Text selected within and across messages, and its copied form.
@MainActor @Suite(.timeLimit(.minutes(10))) struct MessageSelectionTests {
    private let harness = TimelineHarness()
    private var timeline: TimelineViewModel { harness.timeline }

    private func point(_ position: Int, _ offset: Int) -> TextPoint {
        TextPoint(message: MessageID("m\(position)"), offset: offset)
    }

    private func open() async {
        await harness.open([
            .of(1, text: "one <b>"), .of(2, by: Fixtures.own, text: "two\nlines"), .of(3, text: "", isDeleted: true),
            .of(4, text: "👩‍👩‍👧 four"),
        ])
    }

    @Test func selectionWithinOneMessageCopiesItsTextOnly() async {
        await open()
        timeline.send(.selection(.select(MessageSelection(anchor: point(1, 7), focus: point(1, 4)))))
        #expect(timeline.selectedRange(in: harness.messages[0]) == 4..<7)
        #expect(timeline.selectedRange(in: harness.messages[1]) == nil)
        #expect(timeline.selectedFragment?.text == "<b>")
        #expect(timeline.selectedFragment?.html?.contains("&lt;b&gt;") == true)
        #expect(timeline.selectedFragment?.written.source.hasSuffix("<b>") == true)
    }

    @Test(arguments: [true, false]) func selectionAcrossMessagesCopiesSenderNames(forward: Bool) async {
        await open()
        let (low, high) = (point(1, 4), point(4, 18))
        timeline.send(.selection(.select(MessageSelection(anchor: forward ? low : high, focus: forward ? high : low))))
        let copied = timeline.selectedFragment
        #expect(copied?.text == "Alex: <b>\nRobin: two\nlines\nAlex: 👩‍👩‍👧")
        #expect(copied?.html?.contains("<p><strong>Robin:</strong> two<br>lines</p>") == true)
        #expect(timeline.selectedRange(in: harness.messages[1]) == 0..<9)
        #expect(timeline.selectedRange(in: harness.messages[2]) == nil, "a deleted message has no text")
    }

    @Test func emptySelectionCopiesNothing() async {
        await open()
        #expect(timeline.selectedFragment == nil)
        timeline.send(.selection(.select(MessageSelection(anchor: point(1, 2), focus: point(1, 2)))))
        #expect(timeline.selectedFragment == nil)
    }

    @Test func observersAreNotifiedOnceOfEachChange() async {
        await open()
        harness.forgetEffects()
        let selection = MessageSelection(anchor: point(1, 0), focus: point(2, 3))
        timeline.send(.selection(.select(selection)))
        timeline.send(.selection(.select(selection)))
        timeline.send(.selection(.select(nil)))
        #expect(harness.effects == [.selectionChanged, .selectionChanged])
    }

    @Test func keyboardExtendsByCharacterWordAndMessage() async {
        await open()
        let id = MessageID("m4")
        timeline.send(.selection(.extend(.character, forward: true, from: id)))
        #expect(timeline.selectedFragment?.text == "👩‍👩‍👧", "a character may be of several scalars")
        timeline.send(.selection(.extend(.word, forward: true, from: id)))
        #expect(timeline.selectedFragment?.text == "👩‍👩‍👧 four")
        timeline.send(.selection(.extend(.word, forward: false, from: id)))
        timeline.send(.selection(.extend(.character, forward: false, from: id)))
        timeline.send(.selection(.extend(.character, forward: false, from: id)))
        #expect(timeline.selectedFragment == nil)
        timeline.send(.selection(.extend(.message, forward: false, from: id)))
        timeline.send(.selection(.extend(.message, forward: false, from: id)))
        #expect(timeline.selectedFragment?.text == "two\nlines", "over a deleted message")
        timeline.send(.selection(.extend(.message, forward: false, from: id)))
        timeline.send(.selection(.extend(.message, forward: false, from: id)))
        #expect(timeline.selectedText?.focus == point(1, 0), "the first message is the end")
    }

    @Test func wordIsFoundAtAnOffset() async {
        await open()
        let item = harness.messages[0]
        for (offset, expected) in [(0, 0..<3), (3, 0..<3), (4, 4..<5), (5, 5..<6), (7, 7..<7)] {
            let word = item.word(at: offset)
            #expect((word.anchor.offset, word.focus.offset) == (expected.lowerBound, expected.upperBound))
        }
        #expect(harness.messages[3].word(at: 7).anchor.offset == 0, "an offset within a character is before it")
    }

    @Test func truncatedMessageIsCopiedInFull() async {
        let long = String(repeating: "line\n", count: 400) + "end"
        await harness.open([.of(1, text: long)])
        timeline.send(.selection(.selectAll))
        #expect(timeline.selectedFragment?.text == long)
    }

    /// A row shows only the start of a long message, as plain text.
    @Test(arguments: [true, false]) func truncatedMessageKeepsItsFormatting(hasSource: Bool) async throws {
        let text = String(repeating: "line\n", count: 400) + "**bold** Ann Lee"
        var message = Message.of(1, text: text)
        if hasSource {
            message.written = WrittenText(text, mentioning: [Mention(.member("@ann:x"), text: "Ann Lee")])
        } else {
            message.formattedText =
                String(repeating: "line<br>", count: 400)
                + #"<b>bold</b> <a href="https://matrix.to/#/@ann:x">Ann Lee</a>"#
        }
        await harness.open([message])
        timeline.send(.selection(.selectAll))
        let copied = try #require(timeline.selectedFragment)
        #expect(copied.text == text)
        let source = copied.written.source
        #expect(source.hasPrefix("line\n") && source.hasSuffix("line\n**bold** Ann Lee"))
        #expect(copied.written.mentions.map(\.target) == [.member("@ann:x")])
        #expect(copied.html?.contains("<strong>bold</strong>") == true)
    }

    /// Messages unloaded meanwhile are omitted from the copy; the others are copied.
    @Test func selectionSurvivesRemovalOfItsFirstMessage() async {
        await open()
        timeline.send(.selection(.select(MessageSelection(anchor: point(1, 0), focus: point(2, 3)))))
        _ = timeline.selectedFragment
        await harness.publish(.removed([MessageID("m1")]))
        #expect(timeline.selectedFragment?.text == "two")
    }

    private static let formatted = """
        <h3>Plan</h3><ul><li>one <b>bold</b></li><li><a href="https://matrix.to/#/@ann:x">Ann Lee</a> does two</li></ul>\
        <p>see <a href="https://a.example">this</a></p>
        """

    /// The copy keeps styles, lists, links and mentions, as HTML for other applications and as a fragment for a
    /// composer.
    @Test(
        arguments: [
            (0..<44, "### Plan\n\n- one **bold**\n- Ann Lee does two\n\nsee [this](https://a.example)"),
            (9..<13, "**bold**"), (14..<26, "Ann Lee does"), (14..<17, "Ann"),
            (5..<30, "- one **bold**\n- Ann Lee does two"),
            (35..<39, "[this](https://a.example)"),
        ])
    func copiedSelectionKeepsFormatting(range: Range<Int>, source: String) async throws {
        var message = Message.of(1, text: "x")
        message.formattedText = Self.formatted
        await harness.open([message])
        let item = try #require(harness.messages.first)
        let end = item.selectableText.utf8.count
        timeline.send(
            .selection(
                .select(
                    MessageSelection(
                        anchor: point(1, range.lowerBound), focus: point(1, min(end, range.upperBound))))))
        let copied = try #require(timeline.selectedFragment)
        #expect(copied.written.source == source)
        let namesAnn = source.contains("Ann Lee")
        #expect(copied.written.mentions.map(\.target) == (namesAnn ? [.member("@ann:x")] : []))
        let html = try #require(copied.html)
        #expect(html.contains("matrix.to") == namesAnn && html.contains("<li>") == source.contains("- "))
        #expect(html.contains("<strong>bold</strong>") == source.contains("bold"))
        var composer = ComposerEngine()
        _ = composer.handle(.paste([.fragment(try ClipboardFragment.decode(copied.encoded()))]), at: .zero)
        #expect(composer.document.written.marks == copied.written.marks && composer.document.text == source)
    }

    @Test func copiedMessageKeepsFormatting() async throws {
        var message = Message.of(1, text: "plain words")
        message.formattedText = Self.formatted
        await harness.open([message])
        let copied = ClipboardFragment(copying: try #require(harness.messages.first))
        #expect(copied.text == "plain words" && copied.written.mentions.count == 1)
    }
}
