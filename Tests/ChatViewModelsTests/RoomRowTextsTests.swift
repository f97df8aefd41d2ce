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
        #expect(row(.sealed).previewText(.untranslated) == "Encrypted message")
        #expect(row(.knock).previewText(.untranslated) == "Join request sent")
        #expect(row(.failed("{text}")).previewText(.untranslated) == "Not sent: {text}")
    }

    @Test("What the timeline warns of is shown behind its warning, also to a screen reader")
    func doubtfulMessages() {
        func text(_ trust: MessageTrust?, sender: String? = "Ann", isOwn: Bool = false) -> String {
            row(.message(sender: sender, isOwn: isOwn, text: "Hello", trust: trust)).previewText(.untranslated)
        }
        #expect(text(.notEncrypted) == "Ann: Not encrypted: Hello")
        #expect(text(.notEncrypted, sender: nil) == "Not encrypted: Hello")
        #expect(text(.notEncrypted, sender: nil, isOwn: true) == "You: Not encrypted: Hello")
        #expect(text(.changedIdentity) == "Ann: Identity changed: Hello")
        #expect(text(.unproven) == "Ann: Hello")
        let injected = row(.message(sender: "Ann", isOwn: false, text: "Hello", trust: .notEncrypted))
        #expect(
            injected.accessibleText(time: "12:00", isInView: false, .untranslated)
                == "Plans, Ann: Not encrypted: Hello, 12:00")
    }

    @Test("The accessible text has the name, the unread count, the preview and the time")
    func accessibleTexts() {
        #expect(
            row(.draft("x"), unread: 2, mentions: 1).accessibleText(time: "12:00", isInView: false, .untranslated)
                == "Plans, 2 unread messages, 1 mention, Draft: x, 12:00")
        #expect(
            row(.none, unread: 20, mayHaveMore: true).accessibleText(time: "12:00", isInView: false, .untranslated)
                == "Plans, 20 or more unread messages, 12:00")
        #expect(
            row(.invitation(by: "Ann"), unread: 1).accessibleText(time: "", isInView: false, .untranslated)
                == "Plans, Invitation from Ann")
    }

    @Test("A count that is a lower bound has plural forms, too")
    func unreadCountWithoutUpperBound() {
        let counting = Translator(translate: { $0 }, plural: { _, _, count in "{count} of form \(count % 10)" })
        #expect(
            row(.none, unread: 22, mayHaveMore: true).accessibleText(time: "", isInView: false, counting)
                == "Plans, 22 of form 2")
    }

    /// A translator that puts a text between words, as some languages do.
    private let surrounding = Translator(
        translate: {
            $0.replacing("Draft: {text}", with: "{text} (draft)").replacing("Not sent: {text}", with: "no «{text}»")
        },
        plural: { one, many, count in count == 1 ? one : many })

    @Test("Only the label of a draft or an unsent message is emphasized, wherever a translation puts it")
    func emphasizedWords() {
        let draft = row(.draft("Draft: {text}")).previewLine(.untranslated)
        #expect(draft.prefix == "Draft:" && draft.emphasis == .draft && draft.text == "Draft: {text}")
        let failed = row(.failed("x")).previewLine(.untranslated)
        #expect(failed.prefix == "Not sent:" && failed.emphasis == .failure && failed.text == "x")
        let later = row(.draft("x")).previewLine(surrounding)
        #expect(later.prefix == "" && later.emphasis == nil && later.text == "x (draft)")
        let between = row(.failed("x")).previewLine(surrounding)
        #expect(between.prefix == "no «" && between.text == "x»")
        let other = row(.message(sender: "Ann", isOwn: false, text: "Hello")).previewLine(.untranslated)
        #expect(other == PreviewLine("Ann: Hello"))
    }

    @Test("In a right-to-left language the text of a draft has a label of its own, and the other texts are isolated")
    func isolatedPreviews() {
        let arabic = Translator(
            translate: { ["Draft: {text}": "مسودة: {text}", "You: {text}": "أنت: {text}"][$0] ?? $0 },
            plural: { one, _, _ in one })
        let draft = row(.draft("Hello!"))
        #expect(draft.previewLine(arabic).prefix == "مسودة:" && draft.previewLine(arabic).text == "Hello!")
        #expect(draft.previewText(arabic) == "مسودة: \u{2068}Hello!\u{2069}")
        let own = row(.message(sender: nil, isOwn: true, text: "Hello!"))
        #expect(own.previewLine(arabic).text == "أنت: \u{2068}Hello!\u{2069}")
    }

    @Test("A row has one badge: for mentions an @, or else the number of unread messages, and none while it is in view")
    func badges() {
        #expect(row(.empty).badge(isInView: false) == nil)
        #expect(row(.empty, unread: 2).badge(isInView: false) == "2")
        #expect(row(.empty, unread: 2, mentions: 1).badge(isInView: false) == "@")
        #expect(row(.empty, unread: 5, mentions: 3).badge(isInView: false) == "@ 3")
        #expect(row(.empty, unread: 5, mentions: 3).badge(isInView: true) == nil)
        #expect(row(.empty, unread: 1).isUnread(isInView: false) && !row(.empty, unread: 1).isUnread(isInView: true))
        #expect(!row(.empty).isUnread(isInView: false))
        var marked = row(.empty)
        marked.isMarkedUnread = true
        #expect(marked.badge(isInView: true) == "•" && marked.isUnread(isInView: true), "the user wants to see it")
        #expect(
            row(.none, unread: 2, mentions: 1).accessibleText(time: "12:00", isInView: true, .untranslated)
                == row(.none).accessibleText(time: "12:00", isInView: false, .untranslated))
        #expect(marked.accessibleText(time: "", isInView: false, .untranslated).contains("marked as unread"))
        marked.unreadCount = 2
        #expect(marked.badge(isInView: false) == "2")
    }

    @Test("Sections have titles as soon as there are several, or invitations")
    func sectionTitles() {
        var state = RoomListViewModel.State()
        state.rows = [row(.empty)]
        #expect(!state.hasSectionTitles)
        state.rows.append(row(.empty, kind: .direct))
        #expect(state.hasSectionTitles)
        #expect(state.sections.map { $0.kind.title(.untranslated) } == ["Direct Chats", "Rooms"])
        state.rows = []
        state.invitationRows = [row(.invitation(by: nil))]
        #expect(state.hasSectionTitles && state.sections[0].kind.title(.untranslated) == "Invitations")
    }
}
