import ChatTestSupport
import Composer
import ComposerSessions
import Testing

/// PAR-1 to PAR-4: the requests of a session to its spell checker.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct SpellingSessionTests {
    /// A checker whose dictionaries each contain the words that begin with the language's first letter.
    actor FakeChecker: SpellChecker {
        private(set) var asked: [[String]] = []
        private var added: Set<String> = []
        private var installed: [String]
        private let error: SpellingError?

        init(_ installed: [String] = ["a", "b_BB", "b_XX"], error: SpellingError? = nil) {
            self.installed = installed
            self.error = error
        }

        func languages() throws(SpellingError) -> [String] {
            if let error { throw error }
            return installed
        }

        func misspelled(_ words: [String], in languages: [String]) -> Set<String> {
            asked.append(words)
            return Set(words.filter { word in !added.contains(word) && !languages.contains { word.first == $0.first } })
        }

        func suggestions(for word: String, in languages: [String]) -> [String] { languages.map { "\($0)\(word)" } }
        func add(_ word: String, to language: String) { added.insert(word) }
    }

    private let clock = ManualClock()

    private func session(
        _ text: String, _ checker: FakeChecker, _ choice: SpellingChoice = .locales(["a_AA", "C"])
    ) async -> ComposerSession {
        let session = ComposerSession(time: Timekeeper(clock))
        session.checkSpelling(by: checker, in: choice)
        session.handle(.paste([.text(text)]))
        await check()
        return session
    }

    /// Advances the clock by more than the delay before words are checked.
    private func check() async {
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
    }

    /// Polls, because misspelled words are not observable.
    private func until(_ condition: () async -> Bool) async {
        while await !condition() { await Task.yield() }
    }

    private func words(_ session: ComposerSession) -> [String] {
        session.misspelled.map { session.document.text(in: $0) }
    }

    @Test func wordsAreRightInOneOfTheLanguages() async {
        let session = await session("aa bb cc", FakeChecker())
        await until { words(session) == ["bb", "cc"] }
        session.checkSpelling(by: FakeChecker(), in: .dictionaries(["a", "b_BB"]))
        await check()
        await until { words(session) == ["cc"] }
        #expect(session.misspelling(at: 7) == TextRange(location: 6, length: 2))
        #expect(session.misspelling(at: 1) == nil)
    }

    @Test func marksAreReportedToTheView() async {
        let checker = FakeChecker()
        let session = ComposerSession(time: Timekeeper(clock))
        let effects = Recorder<ComposerEffect>()
        session.subscribe { effects.record($0) }
        session.checkSpelling(by: checker, in: .locales(["a"]))
        session.handle(.paste([.text("aa bb")]))
        await check()
        let word = TextRange(location: 3, length: 2)
        await until { effects.values.contains(.misspelled([word], in: TextRange(location: 0, length: 5))) }
        session.checkSpelling(by: nil, in: .locales(["a"]))
        #expect(effects.values.last == .misspelled([], in: TextRange(location: 0, length: 5)))
        #expect(session.spelling == nil && session.misspelled.isEmpty)
    }

    /// Without a dictionary, every word would be misspelled, so none is marked.
    @Test func withoutDictionariesNothingIsMarked() async {
        let checker = FakeChecker()
        let session = await session("bb cc", checker, .locales(["x_XX"]))
        await until { await checker.asked.isEmpty && session.composer.length > 0 }
        session.handle(.insert(" dd ", origin: .typed))
        #expect(session.misspelled.isEmpty)
        #expect(await session.spelling?.languages().map(\.isOn) == [false, false, false])
        // Another language can be chosen here nevertheless.
        await session.spelling?.setLanguage("b_BB", isOn: true)
        await check()
        await until { words(session) == ["cc", "dd"] }
    }

    @Test func errorIsNoMisspelling() async {
        let session = await session("bb cc", FakeChecker(error: .notInstalled))
        await until { session.spelling?.error == .notInstalled }
        #expect(session.misspelled.isEmpty)
        #expect(await session.spelling?.suggestions(for: "bb") == [])
    }

    @Test func suggestionsAreOfTheLanguagesInUse() async {
        let session = await session("aa", FakeChecker(), .dictionaries(["a", "b_XX"]))
        #expect(await session.spelling?.suggestions(for: "x") == ["ax", "b_XXx"])
    }

    @Test func languagesCanBeChosen() async {
        let session = await session("aa bb", FakeChecker())
        await until { words(session) == ["bb"] }
        let chosen = Recorder<[String]>()
        session.spelling?.onChoice = { chosen.record($0) }
        #expect(
            await session.spelling?.languages().map { "\($0.id) \($0.isOn)" } == ["a true", "b_BB false", "b_XX false"])
        await session.spelling?.setLanguage("b_BB", isOn: true)
        await check()
        await until { session.misspelled.isEmpty }
        await session.spelling?.setLanguage("a", isOn: false)
        await check()
        await until { words(session) == ["aa"] }
        #expect(chosen.values == [["a", "b_BB"], ["b_BB"]])
        await session.spelling?.setLanguage("b_BB", isOn: false)
        #expect(session.misspelled.isEmpty, "no language, nothing to check")
    }

    @Test func ignoredAndAddedWordsAreRight() async {
        let session = await session("bb cc dd", FakeChecker())
        await until { words(session) == ["bb", "cc", "dd"] }
        session.spelling?.ignore("bb")
        #expect(words(session) == ["cc", "dd"])
        let added = Recorder<Bool>()
        session.spelling?.onAdded = { added.record(true) }
        await session.spelling?.add("cc", to: "a")
        await check()
        await until { words(session) == ["dd"] }
        #expect(added.values.count == 1)
    }

    // MARK: Locales

    nonisolated static let locales: [([String], [String], [String], [String])] = [
        (["de_AT.UTF-8", "de_AT", "de", "C"], ["de_BE", "de_DE", "en_US"], ["de_DE"], []),
        (["de_AT", "de"], ["de_AT", "de_DE"], ["de_AT"], []), (["ar_EG"], ["ar", "ar_SA"], ["ar"], []),
        (["pt"], ["pt_BR", "pt_PT"], ["pt_PT"], []), (["en_NZ"], ["en_AU", "en_US"], ["en_US"], []),
        (["ca@valencia", "en_GB"], ["ca", "en_GB"], ["ca", "en_GB"], []), (["C"], ["de_DE", "en_US"], ["en_US"], []),
        (["fr_FR", "de_DE"], ["de_DE"], ["de_DE"], ["fr_FR"]), ([], [], [], ["en_US"]),
    ]

    @Test(arguments: locales)
    func eachLanguageHasTheClosestDictionary(
        _ names: [String], _ installed: [String], _ found: [String], _ missing: [String]
    ) {
        let resolved = SpellingChoice.locales(names).resolved(among: installed)
        #expect(resolved.dictionaries == found && resolved.missing == missing)
    }

    @Test func languagesHaveTheNamesOfTheirSpeakers() {
        #expect(LanguageNames.name(of: "de_AT") == "Deutsch (AT)")
        #expect(LanguageNames.name(of: "ar") == "العربية")
        #expect(LanguageNames.name(of: "tlh_QO") == "tlh_QO")
    }
}
