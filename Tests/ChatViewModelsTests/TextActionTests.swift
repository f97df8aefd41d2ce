import ChatCore
import ChatViewModels
import Composer
import Testing

/// Links, mentions and spoilers in a text.
@Suite struct TextActionTests {
    private let text: InlineText = {
        var spoiler = InlineRun("the butler ")
        spoiler.spoiler = Spoiler()
        var mention = InlineRun("Ann")
        (mention.spoiler, mention.mention) = (Spoiler(), .member("@ann:x"))
        var everyone = InlineRun("@room")
        everyone.mention = .everyone
        return InlineText([InlineRun("é "), spoiler, mention, InlineRun(" "), everyone])
    }()

    @Test("Actions are found in order, in UTF-8 offsets, a mention after the spoiler that covers it")
    func actionsAreInTextOrder() {
        let actions = TextAction.all(in: text)
        #expect(actions.map(\.range) == [3..<17, 14..<17, 18..<23])
        #expect(actions.map(\.isTarget) == [false, true, true])
        #expect(TextAction.all(in: InlineText("plain")).isEmpty)
    }

    @Test("A spoiler's description does not reveal its content")
    func spoilersRevealNothing() {
        let actions = TextAction.all(in: text)
        #expect(
            actions.map { $0.accessibleText(in: text.text, .untranslated) }
                == ["Spoiler, press Return to reveal", "Ann", "@room"])
        #expect(actions.map { $0.explanation(.untranslated) } == ["Spoiler", "@ann:x", "Everyone in this room"])
    }
}
