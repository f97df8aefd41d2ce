import ChatCore
import ChatTestSupport
import ComposerSessions
import Testing

@testable import ChatViewModels

/// PAR-4: choosing the languages for spell checking.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct SpellingPreferencesTests {
    private struct FakeChecker: SpellChecker {
        var installed: [String]?
        func languages() throws(SpellingError) -> [String] {
            guard let installed else { throw .notInstalled }
            return installed
        }
        func misspelled(_ words: [String], in languages: [String]) -> Set<String> { [] }
        func suggestions(for word: String, in languages: [String]) -> [String] { [] }
        func add(_ word: String, to language: String) {}
    }

    private let stored = Recorder<[String]>()

    private func preferences(
        _ installed: [String]?, locales: [String] = ["de_AT", "fr_FR"], chosen: [String] = []
    ) async -> SpellingPreferencesViewModel {
        let viewModel = SpellingPreferencesViewModel(
            checker: FakeChecker(installed: installed), locales: locales, chosen: chosen
        ) { [stored] in stored.record($0) }
        await eventually { viewModel.state.status != nil }
        return viewModel
    }

    private func used(_ viewModel: SpellingPreferencesViewModel) -> [String] {
        viewModel.state.languages.filter(\.isOn).map(\.id)
    }

    @Test("By default, the languages are those of the user that have dictionaries")
    func automaticByDefault() async {
        let viewModel = await preferences(["ar", "de_DE", "en_US"])
        #expect(viewModel.state.isAutomatic && !viewModel.state.hasNoDictionaries)
        #expect(viewModel.state.languages.map(\.id) == ["ar", "de_DE", "en_US"])
        #expect(used(viewModel) == ["de_DE"])
        #expect(viewModel.state.status == SpellingStatus(dictionaries: ["de_DE"], missing: ["fr_FR"]))
    }

    @Test("Choosing starts with the languages in use; several can be used at once")
    func severalAreChosen() async {
        let viewModel = await preferences(["ar", "de_DE", "en_US"])
        viewModel.send(.setAutomatic(false))
        #expect(!viewModel.state.isAutomatic && used(viewModel) == ["de_DE"])
        viewModel.send(.setLanguage("ar", isOn: true))
        viewModel.send(.setLanguage("en_US", isOn: true))
        viewModel.send(.setLanguage("de_DE", isOn: false))
        #expect(used(viewModel) == ["ar", "en_US"])
        #expect(viewModel.state.status == SpellingStatus(dictionaries: ["ar", "en_US"]))
        #expect(stored.values.last == ["ar", "en_US"] && stored.values.count == 4)
        viewModel.send(.setAutomatic(true))
        #expect(viewModel.state.isAutomatic && used(viewModel) == ["de_DE"] && stored.values.last == [])
    }

    @Test("Turning off the last language restores those of the user")
    func lastLanguageTurnedOff() async {
        let viewModel = await preferences(["ar", "de_DE"], chosen: ["ar"])
        #expect(used(viewModel) == ["ar"])
        viewModel.send(.setLanguage("ar", isOn: false))
        #expect(viewModel.state.isAutomatic && used(viewModel) == ["de_DE"] && stored.values == [[]])
    }

    @Test("The only language of the user stays on, and nothing is stored")
    func onlyLanguageTurnedOff() async {
        let viewModel = await preferences(["ar", "de_DE"])
        viewModel.send(.setLanguage("de_DE", isOn: false))
        #expect(viewModel.state.isAutomatic && used(viewModel) == ["de_DE"] && stored.values.isEmpty)
    }

    @Test("If no language of the user has a dictionary, others can be chosen directly")
    func noDictionaryForTheUser() async {
        let viewModel = await preferences(["ar"], locales: ["fr_FR"])
        #expect(viewModel.state.isAutomaticOnly && used(viewModel).isEmpty)
        viewModel.send(.setAutomatic(false))
        #expect(viewModel.state.isAutomatic && stored.values.isEmpty)
        viewModel.send(.setLanguage("ar", isOn: true))
        #expect(!viewModel.state.isAutomatic && !viewModel.state.isAutomaticOnly && used(viewModel) == ["ar"])
    }

    @Test("A chosen language without a dictionary stays chosen, and is reported")
    func missingLanguageStays() async {
        let viewModel = await preferences(["ar"], chosen: ["fr_FR"])
        #expect(used(viewModel).isEmpty && viewModel.state.status?.missing == ["fr_FR"])
        viewModel.send(.setLanguage("ar", isOn: true))
        #expect(stored.values == [["fr_FR", "ar"]])
    }

    @Test("Without dictionaries or Enchant, there is nothing to choose, and nothing is stored")
    func nothingToChoose() async {
        for installed in [[], nil] as [[String]?] {
            let viewModel = await preferences(installed, chosen: ["ar"])
            #expect(viewModel.state.hasNoDictionaries)
            #expect(viewModel.state.status?.error == (installed == nil ? .notInstalled : nil))
        }
        let failing = await preferences(nil, chosen: ["ar"])
        failing.send(.setAutomatic(true))
        #expect(stored.values.isEmpty)
    }
}
