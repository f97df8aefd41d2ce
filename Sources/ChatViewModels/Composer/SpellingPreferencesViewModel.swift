public import ComposerSessions
public import Observation

/// The spelling languages of rooms without a choice of their own.
@Observable
public final class SpellingPreferencesViewModel: ViewModel {
    /// A language that has a dictionary.
    public nonisolated struct Language: Identifiable, Equatable, Sendable {
        /// The locale's name, such as `de_DE`.
        public let id: String
        /// The language's name in the language itself.
        public let name: String
        /// Whether words are checked in it.
        public let isOn: Bool
    }

    public nonisolated struct State: Equatable, Sendable {
        /// Whether the user's languages are used, as none were chosen.
        public var isAutomatic: Bool
        /// The languages that have a dictionary.
        public var languages: [Language] = []
        /// Which dictionaries are used; `nil` until they are loaded.
        public var status: SpellingStatus?

        /// Whether automatic mode can only be left by choosing a language: none of the user's has a dictionary.
        public var isAutomaticOnly: Bool { isAutomatic && status?.dictionaries.isEmpty != false }
        /// Whether no dictionary is installed.
        public var hasNoDictionaries: Bool { status != nil && languages.isEmpty }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// Uses the user's languages, or turns those with a dictionary into an explicit choice.
        case setAutomatic(Bool)
        /// If no language remains, the user's languages are used again.
        case setLanguage(String, isOn: Bool)
    }

    public private(set) var state: State
    @ObservationIgnored private let checker: any SpellChecker
    @ObservationIgnored private let locales: [String]
    @ObservationIgnored private var chosen: [String]
    @ObservationIgnored private var installed: [String] = []
    @ObservationIgnored private let onChoice: ([String]) -> Void

    /// - Parameters:
    ///   - locales: the user's languages, see ``SpellingChoice/locales(_:)``.
    ///   - chosen: the chosen dictionaries; empty for those of the user's languages.
    ///   - onChoice: stores the choice.
    public init(
        checker: any SpellChecker, locales: [String], chosen: [String], onChoice: @escaping ([String]) -> Void
    ) {
        self.checker = checker
        self.locales = locales
        self.chosen = chosen
        self.onChoice = onChoice
        state = State(isAutomatic: chosen.isEmpty)
        Task { await load() }
    }

    public func send(_ action: Action) {
        let used = choice.resolved(among: installed).dictionaries
        switch action {
        case .setAutomatic(let isOn): choose(isOn ? [] : used)
        case .setLanguage(let language, let isOn):
            // Keep chosen dictionaries that are missing: they may be installed again.
            let others = (chosen.isEmpty ? used : chosen).filter { $0 != language }
            choose(isOn ? others + [language] : others)
        }
    }

    private var choice: SpellingChoice { chosen.isEmpty ? .locales(locales) : .dictionaries(chosen) }

    private func load() async {
        do throws(SpellingError) {
            installed = try await checker.languages()
            update()
        } catch {
            state.status = SpellingStatus(error: error)
        }
    }

    private func choose(_ languages: [String]) {
        guard languages != chosen, state.status?.error == nil else { return }
        chosen = languages
        update()
        onChoice(languages)
    }

    private func update() {
        let (used, missing) = choice.resolved(among: installed)
        state = State(
            isAutomatic: chosen.isEmpty,
            languages: ComposerSpelling.Language.offered(among: installed, using: used).map {
                Language(id: $0.id, name: $0.name, isOn: $0.isOn)
            },
            status: SpellingStatus(dictionaries: used, missing: missing))
    }
}
