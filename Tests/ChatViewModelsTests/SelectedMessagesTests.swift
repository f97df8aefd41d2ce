import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatViewModels

/// Messages selected for copying, forwarding and deletion.
@MainActor @Suite(.timeLimit(.minutes(10))) struct SelectedMessagesTests {
    private let harness = TimelineHarness()
    private var timeline: TimelineViewModel { harness.timeline }
    private var selection: SelectedMessages { harness.state.selection }

    private func select(_ ids: String...) {
        for id in ids { timeline.send(.selection(.toggle(MessageID(id)))) }
    }

    private func open() async {
        await harness.open([.of(1), .of(2, by: Fixtures.own), .of(3, by: Fixtures.own), .of(4, isDeleted: true)])
        harness.forgetEffects()
    }

    @Test("Toggling a message changes only its row")
    func togglesOneRow() async {
        await open()
        select("m2")
        #expect(selection.count == 1 && selection.canDelete && harness.messages[1].isSelected)
        #expect(harness.effects == [.changed([.update(2..<3)])])
        select("m1")
        #expect(selection.count == 2 && !selection.canDelete, "it is another's")
        select("m1", "m4", "unknown")
        #expect(selection.count == 1, "deleted and unknown messages cannot be selected")
    }

    @Test("A deleted message is deselected")
    func deselectsDeleted() async {
        await open()
        select("m2", "m3")
        await harness.publish(.changed([.of(2, by: Fixtures.own, isDeleted: true)]))
        await harness.publish(.removed([MessageID("m3")]))
        #expect(selection.isEmpty)
    }

    @Test("Deleting asks first and deletes only the user's own messages")
    func deletionAsksFirst() async throws {
        await open()
        select("m2", "m1")
        timeline.send(.selection(.requestDeletion))
        #expect(!harness.effects.contains { if case .confirm = $0 { true } else { false } })
        select("m1", "m3")
        timeline.send(.selection(.requestDeletion))
        guard case .confirm(let confirmation)? = harness.effects.last else {
            Issue.record("\(harness.effects)")
            return
        }
        #expect(confirmation.heading(.untranslated) == "Delete 2 Messages?")
        timeline.send(confirmation.action)
        await eventually { [service = harness.service] in service.calls.count == 2 }
        #expect(Set(harness.service.calls.map(String.init(describing:))).count == 2 && selection.isEmpty)
    }

    @Test("Selected messages are copied in timeline order and then deselected")
    func copiesSelectedMessagesInOrder() async {
        await open()
        harness.service.known = { id in [.of(1), .of(2, by: Fixtures.own)].first { $0.id == id } }
        select("m2", "m1")
        timeline.send(.selection(.copy(focused: nil)))
        await eventually { [harness] in harness.state.selection.isEmpty }
        let copied = harness.effects.compactMap { if case .copy(let fragment) = $0 { fragment.text } else { nil } }
        #expect(copied == ["Alex: Text 1\nRobin: Text 2"])
    }

    @Test("What is selected while others are copied stays selected")
    func selectingDuringCopying() async {
        await open()
        let gate = Gate()
        harness.service.before = { if case .quoted = $0 { await gate.pass() } }
        harness.service.known = { id in [.of(1), .of(2, by: Fixtures.own)].first { $0.id == id } }
        select("m1", "m2")
        timeline.send(.selection(.copy(focused: nil)))
        await eventually { gate.waiting == 1 }
        select("m3")
        gate.open()
        await eventually { [harness] in harness.state.selection.count == 1 }
        #expect(selection.contains(MessageID("m3")))
        #expect(harness.messages.filter(\.isSelected).map(\.id) == [MessageID("m3")])
    }

    @Test("Without selected messages the selected text is copied, or else the focused message")
    func copiesTextOrTheFocusedMessage() async {
        await open()
        timeline.send(.selection(.copy(focused: MessageID("m1"))))
        timeline.send(.selection(.copy(focused: nil)))
        let word = MessageSelection(
            anchor: TextPoint(message: MessageID("m1"), offset: 0),
            focus: TextPoint(message: MessageID("m1"), offset: 4))
        timeline.send(.selection(.select(word)))
        timeline.send(.selection(.copy(focused: MessageID("m2"))))
        let copied = harness.effects.compactMap { if case .copy(let fragment) = $0 { fragment.text } else { nil } }
        #expect(copied == ["Text 1", "Text"])
    }

    @Test("Copying messages without text leaves the clipboard as it is, and a selection of them selected")
    func copiesNothingOfPictures() async {
        func picture(_ position: Int64, by sender: Member) -> Message {
            var picture = Message.of(position, by: sender, text: "")
            picture.kind = .image
            picture.attachments = [MediaReference(uri: "a", name: "a.png", type: "image/png")]
            return picture
        }
        let messages = [picture(1, by: Fixtures.other), picture(2, by: Fixtures.own), Message.of(3)]
        await harness.open(messages)
        harness.service.known = { id in messages.first { $0.id == id } }
        timeline.send(.message(MessageID("m1"), .copy))
        timeline.send(.selection(.copy(focused: MessageID("m1"))))
        select("m1", "m2")
        timeline.send(.selection(.copy(focused: nil)))
        select("m3")
        timeline.send(.selection(.copy(focused: nil)))
        await eventually { [harness] in harness.state.selection.isEmpty }
        let copied = harness.effects.compactMap { if case .copy(let fragment) = $0 { fragment.text } else { nil } }
        #expect(copied == ["Alex: \nRobin: \nAlex: Text 3"])
    }

    @Test("The menu copies the selected text if it includes the message, or else the whole message")
    func copiesByMenu() async {
        await open()
        let id = MessageID("m1")
        let word = MessageSelection(
            anchor: TextPoint(message: id, offset: 0), focus: TextPoint(message: id, offset: 4))
        timeline.send(.selection(.select(word)))
        timeline.send(.message(id, .copy))
        timeline.send(.message(MessageID("m2"), .copy))
        timeline.send(.message(MessageID("m4"), .copy))
        let copied = harness.effects.compactMap { if case .copy(let fragment) = $0 { fragment.text } else { nil } }
        #expect(copied == ["Text", "Text 2"])
    }

    @Test("Cancelling deselects messages before text")
    func cancelingDeselectsMessagesBeforeText() async {
        await open()
        timeline.send(.selection(.selectAll))
        select("m1")
        timeline.send(.selection(.cancel))
        #expect(selection.isEmpty && timeline.selectedText != nil && timeline.canCancelSelection)
        timeline.send(.selection(.cancel))
        #expect(timeline.selectedText == nil && !timeline.canCancelSelection)
    }

    @Test("Forwarding passes on the selected messages and deselects them")
    func forwardsSelectedMessages() async {
        await open()
        select("m3")
        timeline.send(.selection(.forward))
        #expect(harness.effects.contains(.forward([MessageID("m3")])) && selection.isEmpty)
    }

    // MARK: Presses

    private func press(_ id: String, _ count: Int, at offset: Int = 1, extending: Bool = false, beside: Bool = false) {
        let point = TextPoint(message: MessageID(id), offset: offset)
        let press = TextPress(point, count: count, isExtending: extending, isOnBubble: !beside)
        timeline.send(.selection(.press(press)))
    }

    @Test("A click clears the selection, a double click selects a word, a triple click the message, and Shift extends")
    func clicksSelectWordsAndMessages() async {
        await open()
        press("m1", 2)
        #expect(timeline.selectedFragment?.text == "Text")
        press("m1", 1, at: 6, extending: true)
        #expect(timeline.selectedFragment?.text == "Text 1")
        press("m1", 1)
        #expect(timeline.selectedText == nil)
        press("m1", 3)
        #expect(timeline.selectedFragment?.text == "Text 1")
    }

    @Test("A double click on one's own bubble edits it; beside it, it selects a word")
    func doubleClickEditsOwnMessages() async {
        await open()
        press("m2", 2, beside: true)
        #expect(harness.reported.isEmpty && timeline.selectedFragment?.text == "Text")
        press("m2", 2)
        #expect(harness.reported == [.edit(MessageID("m2"), EditableMessage(WrittenText("Text 2")))])
        #expect(timeline.selectedText == nil)
    }

    @Test("While messages are selected, a click selects another one")
    func clicksSelectFurtherMessages() async {
        await open()
        select("m1")
        press("m2", 1)
        press("m2", 2)
        #expect(selection.count == 2 && timeline.selectedText == nil)
    }
}
