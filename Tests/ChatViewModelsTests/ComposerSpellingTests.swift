import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import Testing

/// PAR-3, PAR-4: preferences and rooms determine the languages for spell checking.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct ComposerSpellingTests {
    private struct FakeChecker: SpellChecker {
        var installed = ["de_DE", "en_US"]
        func languages() -> [String] { installed }
        func misspelled(_ words: [String], in languages: [String]) -> Set<String> { Set(words) }
        func suggestions(for word: String, in languages: [String]) -> [String] { [] }
        func add(_ word: String, to language: String) {}
    }

    private let service = FakeChatService()

    private func composer(_ spelling: SpellingChoice?, onWordAdded: @escaping () -> Void = {}) async
        -> ComposerViewModel
    {
        let composer = ComposerViewModel(
            roomID: RoomID("room"), service: service, spellChecker: FakeChecker(), languages: service,
            onWordAdded: onWordAdded)
        composer.send(.preferencesChanged(WritingPreferences(spelling: spelling)))
        await composer.start()
        return composer
    }

    @Test func preferenceTurnsItOnAndOff() async {
        let composer = await composer(nil)
        #expect(composer.spelling == nil)
        composer.send(.preferencesChanged(WritingPreferences(spelling: .locales(["de"]))))
        #expect(composer.spelling?.choice == .locales(["de"]))
        composer.send(.preferencesChanged(WritingPreferences()))
        #expect(composer.spelling == nil)
    }

    @Test func roomRemembersItsLanguages() async throws {
        let first = await composer(.locales(["en_US"]))
        #expect(first.spelling?.choice == .locales(["en_US"]))
        await first.spelling?.setLanguage("de_DE", isOn: true)
        await eventually { service.writingLanguages[first.roomID] == ["en_US", "de_DE"] }
        let second = await composer(.locales(["en_US"]))
        #expect(second.spelling?.choice == .dictionaries(["en_US", "de_DE"]))
        second.send(.preferencesChanged(WritingPreferences(spelling: .locales(["fr"]))))
        #expect(second.spelling?.choice == .dictionaries(["en_US", "de_DE"]), "the room's stay")
    }

    @Test func addedWordIsReportedToOtherComposers() async {
        let added = Recorder<Bool>()
        let composer = await composer(.locales(["en_US"])) { added.record(true) }
        await composer.spelling?.add("word", to: "en_US")
        #expect(added.values.count == 1)
    }

    @Test func dictionariesAreDescribed() {
        func text(_ dictionaries: [String], missing: [String] = []) -> String {
            SpellingStatus(dictionaries: dictionaries, missing: missing).description(.untranslated)
        }
        #expect(text(["de_DE"]) == "Underline misspelled words in Deutsch (DE)")
        #expect(text([], missing: ["fr_FR"]) == "No dictionary is installed for Français (FR)")
        #expect(
            text(["de_DE"], missing: ["fr"])
                == "Underline misspelled words in Deutsch (DE). No dictionary is installed for Français")
        #expect(
            SpellingStatus(error: .notInstalled).description(.untranslated)
                == "Spell checking needs Enchant, which is not installed")
    }
}
