import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import Testing

@MainActor @Suite("Emoji from a list", .timeLimit(.minutes(10))) struct ChosenEmojiTests {
    @Test("A chosen emoji is inserted at the caret and then offered first by completion") func choosing() async {
        let library = EmojiLibrary(load: { throw ChatError.notFound })
        let harness = await ComposerHarness.started(emoji: library)
        harness.type("ab")
        harness.composer.handle(.select(.caret(1)))
        harness.composer.insertEmoji("🎉")
        #expect(harness.text == "a🎉b")
        #expect(library.recent == ["🎉"])
    }
}
