import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Testing

/// A composer without a room.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct ComposerSessionTests {
    private struct Refused: Error {}

    @Test func sentMessagesReachTheHandler() async {
        let session = ComposerSession()
        var sent: [String] = []
        session.onSend = { sent.append($0.text.source) }
        session.handle(.insert("hello", origin: .typed))
        session.handle(.send)
        #expect(session.document.isEmpty)
        #expect(session.composer.isSending)
        await eventually { !session.composer.isSending }
        #expect(sent == ["hello"])
    }

    @Test("What any input method writes before the stored draft is read counts as content that waits")
    func waitingContent() {
        let mention = Mention(.member("@a:b"), text: "@A")
        let events: [ComposerEvent] = [
            .insert("x", origin: .typed), .commit("か"), .edit(.caret(0), replacement: "x", origin: .typed),
            .appendToMessage("x"), .load(WrittenText("x")), .addMention(mention, over: .caret(0)),
        ]
        for event in events {
            let session = ComposerSession()
            session.waitForDraft()
            session.handle(.select(.caret(0)))
            session.handle(.key(KeyChord("Left")))
            #expect(!session.hasWaitingContent)
            session.handle(event)
            #expect(session.hasWaitingContent, "\(event)")
        }
    }

    @Test func failedMessageIsRestored() async {
        let session = ComposerSession()
        session.onSend = { _ in throw Refused() }
        session.handle(.insert("hello", origin: .typed))
        session.handle(.send)
        #expect(session.document.isEmpty)
        await eventually { session.composer.canSend }
        #expect(session.document.text == "hello")
    }

    @Test func editsAreReportedWithTheirID() async {
        let session = ComposerSession()
        let saved = Recorder<String>()
        session.onEdit = { id, message in saved.record("\(id): \(message.text.source)") }
        session.handle(.startEdit(id: "m", WrittenText("**old** words\nlines")))
        #expect(session.editQuote == "old words")
        session.handle(.insert("!", origin: .typed))
        session.handle(.commitEdit)
        await eventually { !saved.values.isEmpty }
        #expect(saved.values == ["m: **old** words\nlines!"])
        #expect(session.editQuote == nil)
    }

    @Test(
        "SLK-16: The bar quotes the message as sent when undo, a failure or a draft returns to a half-done edit."
    )
    func editsQuoteTheOriginal() async {
        let session = ComposerSession()
        session.onEdit = { _, _ in throw Refused() }
        session.handle(.startEdit(id: "a", WrittenText("old words")))
        session.handle(.insert(" half-done", origin: .typed))
        session.handle(.startEdit(id: "b", WrittenText("two")))
        #expect(session.editQuote == "two")
        session.handle(.undo)
        #expect(session.document.text == "old words half-done" && session.editQuote == "old words")
        session.handle(.commitEdit)
        #expect(session.editQuote == nil)
        await eventually { session.composer.editing == "a" }
        #expect(session.document.text == "old words half-done" && session.editQuote == "old words")
        let draft = session.makeDraft()
        let other = ComposerSession()
        other.withEngine { engine, _ in engine.restore(draft) }
        #expect(other.document.text == "old words half-done" && other.editQuote == "old words")
    }

    @Test func changingTheConfigurationKeepsTheText() {
        let session = ComposerSession()
        session.handle(.insert("hello", origin: .typed))
        session.configuration.characterLimit = 3
        #expect(session.composer.counter?.exceeded == true)
        #expect(!session.composer.canSend)
        #expect(session.document.text == "hello")
    }

    /// SLK-39, SLK-40: timers use the injected clock.
    @Test func timersUseTheInjectedClock() async {
        let clock = ManualClock()
        let session = ComposerSession(time: Timekeeper(clock))
        session.handle(.userTyping(name: "Ann", true))
        #expect(session.composer.typing != nil)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(7))
        await eventually { session.composer.typing == nil }
    }

    /// A failed edit waits until the current edit ends.
    @Test func failedEditWaitsForTheCurrentEdit() async {
        let session = ComposerSession()
        let saved = Recorder<String>()
        session.onEdit = { id, _ in
            saved.record(id)
            throw Refused()
        }
        session.handle(.startEdit(id: "a", WrittenText("one")))
        session.handle(.insert("!", origin: .typed))
        session.handle(.commitEdit)
        session.handle(.startEdit(id: "b", WrittenText("two")))
        await eventually { !saved.values.isEmpty }
        #expect(saved.values == ["a"])
        #expect(session.composer.editing == "b")
        session.handle(.cancelEdit)
        await eventually { session.composer.editing == "a" }
        #expect(session.document.text == "one!")
    }

    /// A session whose edit fails to be saved while the input method composes.
    private static func failedWhileComposing(_ time: Timekeeper = .continuous) async -> ComposerSession {
        let session = ComposerSession(time: time)
        let failures = Recorder<Bool>()
        session.onEdit = { _, _ in throw Refused() }
        session.onSend = { _ in }
        session.onDelivered = { _, error in if error != nil { failures.record(true) } }
        session.handle(.startEdit(id: "m", WrittenText("old")))
        session.handle(.insert("er", origin: .typed))
        session.handle(.commitEdit)
        session.handle(.preedit("か"))
        await eventually { !failures.values.isEmpty }
        #expect(session.composer.editing == nil && session.composer.preedit == "か")
        return session
    }

    @Test("SLK-15: An edit that fails while the input method composes is reopened once the next message is sent")
    func failedEditWaitsForTheNextMessage() async {
        let session = await Self.failedWhileComposing()
        session.handle(.commit("か"))
        session.handle(.send)
        await eventually { session.composer.editing == "m" }
        #expect(session.document.text == "older")
    }

    @Test("SLK-15: An edit that fails while the input method composes is reopened after that")
    func failedEditWaitsForThePreedit() async {
        let clock = ManualClock()
        let session = await Self.failedWhileComposing(Timekeeper(clock))
        session.handle(.preedit(""))
        #expect(session.composer.editing == nil)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        await eventually { session.composer.editing == "m" }
        #expect(session.document.text == "older")
    }

    /// SLK-40, SLK-64: the host's phrases apply at once and survive a configuration change.
    @Test func hostCanReplaceTypingPhrases() {
        let session = ComposerSession()
        session.handle(.userTyping(name: "Ann", true))
        session.phrases = TypingPhrases(one: "{0} schreibt …", two: "", several: "")
        #expect(session.composer.typing == "Ann schreibt …")
        session.configuration = .preset(.slack)
        #expect(session.composer.typing == "Ann schreibt …")
        session.configuration.typingPhrases = TypingPhrases(one: "{0}!", two: "", several: "")
        #expect(session.composer.typing == "Ann!")
    }

    /// SLK-64: a translation may put the names in another order.
    @Test func typingPhrasesAreTranslated() {
        let german = Translator(
            translate: {
                [
                    "{name} is typing…": "{name} schreibt …",
                    "{first} and {second} are typing…": "{second} und {first} schreiben …",
                    "Several people are typing…": "Mehrere schreiben …",
                ][$0] ?? $0
            }, plural: { one, _, _ in one })
        let phrases = TypingPhrases(german)
        #expect(phrases.text(for: ["Ann"]) == "Ann schreibt …")
        #expect(phrases.text(for: ["{1}", "Bo"]) == "Bo und {1} schreiben …")
        #expect(phrases.text(for: ["a", "b", "c"]) == "Mehrere schreiben …")
    }

    @Test func typingNamesAreIsolatedInRightToLeftLanguages() {
        let arabic = Translator(
            translate: {
                [
                    "{name} is typing…": "يكتب الآن {name}…",
                    "{first} and {second} are typing…": "يكتب {first} و{second}…",
                ][$0] ?? $0
            }, plural: { one, _, _ in one })
        let phrases = TypingPhrases(arabic)
        #expect(phrases.text(for: ["@ann:x"]) == "يكتب الآن \u{2068}@ann:x\u{2069}…")
        #expect(phrases.text(for: ["Ann", "Bo"]) == "يكتب \u{2068}Ann\u{2069} و\u{2068}Bo\u{2069}…")
    }

    @Test func formattingToolbarRequiresASelection() {
        let session = ComposerSession()
        session.handle(.focus(true))
        session.handle(.insert("word", origin: .typed))
        #expect(session.composer.selectionToFormat == nil)
        #expect(session.composer.offeredFormats == nil, "without a selection all rules apply")
        session.handle(.select(TextRange(location: 0, length: 4)))
        #expect(session.composer.selectionToFormat == TextRange(location: 0, length: 4))
        #expect(session.composer.offeredFormats?.contains("Bold") == true)
        session.handle(.focus(false))
        #expect(session.composer.selectionToFormat == nil)
    }
}
