import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

/// Text that is selected within and across messages, and what is copied of it.
@MainActor @Suite(.timeLimit(.minutes(5))) struct MessageSelectionTests {
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

    @Test func aPartOfOneMessageIsItsTextAlone() async {
        await open()
        timeline.selection = MessageSelection(anchor: point(1, 7), focus: point(1, 4))
        #expect(timeline.selectedRange(in: harness.messages[0]) == 4..<7)
        #expect(timeline.selectedRange(in: harness.messages[1]) == nil)
        #expect(timeline.copySelection() == CopiedMessages(text: "<b>", html: "<p>&lt;b&gt;</p>"))
    }

    @Test(arguments: [true, false]) func acrossMessagesSendersAreTold(forward: Bool) async {
        await open()
        let (low, high) = (point(1, 4), point(4, 18))
        timeline.selection = MessageSelection(anchor: forward ? low : high, focus: forward ? high : low)
        let copied = timeline.copySelection()
        #expect(copied?.text == "Alex: <b>\nRobin: two\nlines\nAlex: 👩‍👩‍👧")
        #expect(copied?.html.contains("<p><strong>Robin:</strong> two<br>\nlines</p>") == true)
        #expect(timeline.selectedRange(in: harness.messages[1]) == 0..<9)
        #expect(timeline.selectedRange(in: harness.messages[2]) == nil, "a deleted message has no text")
    }

    @Test func nothingSelectedIsNothingCopied() async {
        await open()
        #expect(timeline.copySelection() == nil)
        timeline.selection = MessageSelection(anchor: point(1, 2), focus: point(1, 2))
        #expect(timeline.copySelection() == nil)
    }

    @Test func viewsAreToldOnceOfEachChange() async {
        await open()
        harness.forgetEffects()
        let selection = MessageSelection(anchor: point(1, 0), focus: point(2, 3))
        timeline.selection = selection
        timeline.selection = selection
        timeline.selection = nil
        #expect(harness.effects == [.selectionChanged, .selectionChanged])
    }

    @Test func theKeyboardGoesByCharactersWordsAndMessages() async {
        await open()
        let id = MessageID("m4")
        timeline.extendSelection(.character, forward: true, from: id)
        #expect(timeline.copySelection()?.text == "👩‍👩‍👧", "a character may be of several scalars")
        timeline.extendSelection(.word, forward: true, from: id)
        #expect(timeline.copySelection()?.text == "👩‍👩‍👧 four")
        timeline.extendSelection(.word, forward: false, from: id)
        timeline.extendSelection(.character, forward: false, from: id)
        timeline.extendSelection(.character, forward: false, from: id)
        #expect(timeline.copySelection() == nil)
        timeline.extendSelection(.message, forward: false, from: id)
        timeline.extendSelection(.message, forward: false, from: id)
        #expect(timeline.copySelection()?.text == "two\nlines", "over a deleted message")
        timeline.extendSelection(.message, forward: false, from: id)
        timeline.extendSelection(.message, forward: false, from: id)
        #expect(timeline.selection?.focus == point(1, 0), "the first message is the end")
    }

    @Test func aWordIsFoundAroundAPlace() async {
        await open()
        let item = harness.messages[0]
        for (offset, expected) in [(0, 0..<3), (3, 0..<3), (4, 4..<5), (5, 5..<6), (7, 7..<7)] {
            let word = item.word(at: offset)
            #expect((word.anchor.offset, word.focus.offset) == (expected.lowerBound, expected.upperBound))
        }
        #expect(harness.messages[3].word(at: 7).anchor.offset == 0, "an offset within a character is before it")
    }

    @Test func allOfALongTextIsCopiedThoughARowShowsLess() async {
        let long = String(repeating: "line\n", count: 400) + "end"
        await harness.open([.of(1, text: long)])
        timeline.selectAll()
        #expect(timeline.copySelection()?.text == long)
    }

    /// What was let go of meanwhile is not copied, and what is still there is.
    @Test func aSelectionOutlivesTheMessageItBeganIn() async {
        await open()
        timeline.selection = MessageSelection(anchor: point(1, 0), focus: point(2, 3))
        _ = timeline.copySelection()
        await harness.tell(.removed([MessageID("m1")]))
        #expect(timeline.copySelection()?.text == "two")
    }
}
