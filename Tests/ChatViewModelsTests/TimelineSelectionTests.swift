import ChatCore
import ChatTestSupport
import Composer
import Testing

@testable import ChatViewModels

/// The outcomes of actions on the selection, tested without a timeline.
@MainActor struct TimelineSelectionTests {
    private let selection = TimelineSelection()
    private let loaded: LoadedMessages
    private let rows: TimelineRows
    private let first = MessageID("m1")
    private let own = MessageID("m2")

    init() {
        let page = TimelinePage(messages: [.of(1), .of(2, by: Fixtures.own)], hasOlder: false)
        loaded = LoadedMessages(page)
        var rows = TimelineRows()
        let members = TimelineMembers([Fixtures.own, Fixtures.other])
        _ = rows.layOutAll(
            loaded, by: TimelineLayout(members: members, now: Fixtures.date), quotes: QuotedMessages())
        self.rows = rows
    }

    private func perform(_ action: TimelineViewModel.SelectionAction) -> [TimelineSelection.Outcome] {
        selection.perform(action, in: loaded, rows)
    }

    @Test("Selected messages take precedence over selected text, for copying and for cancelling")
    func prefersMessages() {
        #expect(perform(.selectAll) == [.textChanged])
        #expect(perform(.toggle(own)) == [.messagesChanged([own])])
        #expect(perform(.copy(focused: first)) == [.copyMessages([own])])
        #expect(perform(.cancel) == [.messagesChanged([own])] && selection.textRange != nil)
        #expect(perform(.cancel) == [.textChanged] && !selection.canCancel)
    }

    @Test("Without a selection the focused message is copied")
    func copiesTheFocusedMessage() throws {
        let item = try #require(rows.message(first))
        #expect(perform(.copy(focused: first)) == [.copy(ClipboardFragment(copying: item))])
        #expect(perform(.copy(focused: nil)).isEmpty && !selection.hasContent)
    }

    @Test("Forwarding deselects, and deleting names only the user's own messages")
    func forwardsAndDeletes() {
        _ = perform(.toggle(first))
        #expect(perform(.requestDeletion).isEmpty && perform(.delete).isEmpty)
        #expect(perform(.forward) == [.forward([first]), .messagesChanged([first])])
        _ = perform(.toggle(own))
        #expect(perform(.requestDeletion) == [.confirmDeletion(count: 1)])
        #expect(perform(.delete) == [.messagesChanged([own]), .delete([own])])
    }

    @Test("A double press on an own message clears the text selection and edits the message")
    func pressEdits() {
        _ = perform(.selectAll)
        let press = TextPress(TextPoint(message: own, offset: 0), count: 2)
        #expect(perform(.press(press)) == [.textChanged, .edit(own)])
        _ = perform(.toggle(first))
        #expect(perform(.press(TextPress(TextPoint(message: own, offset: 0)))) == [.toggle(own)])
    }

    @Test("A message that is removed is deselected")
    func deselectsRemoved() {
        _ = perform(.toggle(first))
        #expect(selection.removeDeleted(by: .removed([own])).isEmpty)
        #expect(selection.removeDeleted(by: .removed([first])) == [.messagesChanged([first])])
        #expect(selection.messages.isEmpty)
    }
}
