import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

@MainActor struct RoomRowTextsTests {
    private func row(
        _ preview: RoomListViewModel.Row.Preview, kind: Room.Kind = .group, unread: Int = 0, mentions: Int = 0,
        mayHaveMore: Bool = false
    ) -> RoomListViewModel.Row {
        RoomListViewModel.Row(
            id: RoomID("room"), name: "Plans", kind: kind, preview: preview, lastActivity: Fixtures.date, day: .today,
            unreadCount: unread, mentionCount: mentions, mayHaveMoreUnread: mayHaveMore)
    }

    @Test("The preview names its sender, except in notes to oneself")
    func previews() {
        let own = RoomListViewModel.Row.Preview.message(sender: nil, isOwn: true, text: "Hello")
        #expect(row(own).previewText(.untranslated) == "You: Hello")
        #expect(row(own, kind: .notes).previewText(.untranslated) == "Hello")
        let other = RoomListViewModel.Row.Preview.message(sender: "Ann", isOwn: false, text: "Hello")
        #expect(row(other).previewText(.untranslated) == "Ann: Hello")
        #expect(row(.failed("{text}")).previewText(.untranslated) == "Not sent: {text}")
    }

    @Test("The accessible text has the name, the unread count, the preview and the time")
    func accessibleTexts() {
        #expect(
            row(.draft("x"), unread: 2, mentions: 1).accessibleText(time: "12:00", .untranslated)
                == "Plans, 2 unread messages, 1 mention, Draft: x, 12:00")
        #expect(
            row(.none, unread: 20, mayHaveMore: true).accessibleText(time: "12:00", .untranslated)
                == "Plans, 20 or more unread messages, 12:00")
        #expect(
            row(.invitation(by: "Ann"), unread: 1).accessibleText(time: "", .untranslated)
                == "Plans, Invitation from Ann")
    }
}
