import Composer
public import Observation

/// The spelling of one composer: looks up words for the engine, and provides the menu's items for a word.
@Observable
public final class ComposerSpelling {
    /// A language with a dictionary.
    public nonisolated struct Language: Hashable, Sendable, Identifiable {
        /// The locale's name, such as `de_DE`.
        public let id: String
        /// The language's name in the language itself.
        public let name: String
        /// Whether words are checked in it.
        public let isOn: Bool

        /// Returns the languages to choose from. Variants by country are listed only for languages without a dictionary
        /// for all countries.
        public static func offered(among installed: [String], using used: [String]) -> [Language] {
            installed.filter { tag in
                let base = SpellingChoice.base(of: tag)
                return used.contains(tag) || tag == base || !installed.contains(base)
            }.map { Language(id: $0, name: LanguageNames.name(of: $0), isOn: used.contains($0)) }
        }
    }

    /// The languages in which words are checked.
    public private(set) var choice: SpellingChoice
    /// Why nothing is checked although it should be.
    public private(set) var error: SpellingError?
    /// Called with the dictionaries that the user chose for this composer.
    @ObservationIgnored public var onChoice: (([String]) -> Void)?
    /// Called when the user added a word to a dictionary, which affects other composers, too.
    @ObservationIgnored public var onAdded: (() -> Void)?

    @ObservationIgnored private let checker: any SpellChecker
    @ObservationIgnored private let send: (ComposerEvent) -> Void
    /// The dictionaries in use, once loaded.
    @ObservationIgnored private var dictionaries: [String]?

    init(_ checker: any SpellChecker, in choice: SpellingChoice, send: @escaping (ComposerEvent) -> Void) {
        self.checker = checker
        self.choice = choice
        self.send = send
    }

    // MARK: For the engine

    /// Starts checking, or starts over with other languages or changed dictionaries.
    func start(in choice: SpellingChoice) {
        self.choice = choice
        dictionaries = nil
        error = nil
        send(.checkSpelling(choice != .dictionaries([])))
    }

    func stop() { send(.checkSpelling(false)) }

    func answer(_ request: SpellingRequest) {
        let asked = choice
        Task { [weak self] in await self?.answer(request, in: asked) }
    }

    private func answer(_ request: SpellingRequest, in asked: SpellingChoice) async {
        do throws(SpellingError) {
            let dictionaries = try await usedDictionaries()
            guard asked == choice else { return }
            // Without a dictionary, every word would count as misspelled.
            guard !dictionaries.isEmpty else { return stop() }
            let wrong = try await checker.misspelled(request.words, in: dictionaries)
            send(.spellingChecked(request: request.id, misspelled: wrong))
        } catch {
            guard asked == choice else { return }
            self.error = error
            stop()
        }
    }

    private func usedDictionaries() async throws(SpellingError) -> [String] {
        if let dictionaries { return dictionaries }
        let asked = choice
        let found = asked.resolved(among: try await checker.languages()).dictionaries
        if asked == choice { dictionaries = found }
        return found
    }

    // MARK: For the menu

    /// Returns corrections of a word.
    public func suggestions(for word: String) async -> [String] {
        do throws(SpellingError) {
            return try await checker.suggestions(for: word, in: try await usedDictionaries())
        } catch {
            self.error = error
            return []
        }
    }

    /// Returns the languages to choose from.
    public func languages() async -> [Language] {
        do throws(SpellingError) {
            let installed = try await checker.languages()
            return Language.offered(among: installed, using: try await usedDictionaries())
        } catch {
            self.error = error
            return []
        }
    }

    /// Enables or disables a language in this composer.
    public func setLanguage(_ language: String, isOn: Bool) async {
        do throws(SpellingError) {
            var chosen = try await usedDictionaries().filter { $0 != language }
            if isOn { chosen.append(language) }
            start(in: .dictionaries(chosen))
            onChoice?(chosen)
        } catch {
            self.error = error
        }
    }

    /// Treats a word as correct in this composer from now on.
    public func ignore(_ word: String) { send(.ignoreWord(word)) }

    /// Adds a word to the user's personal dictionary of a language.
    public func add(_ word: String, to language: String) async {
        do throws(SpellingError) {
            try await checker.add(word, to: language)
            start(in: choice)
            onAdded?()
        } catch {
            self.error = error
        }
    }
}
