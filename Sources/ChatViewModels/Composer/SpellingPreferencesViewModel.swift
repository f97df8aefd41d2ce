public import ComposerSessions
public import Observation

/// The languages in which spelling is checked where a room has none of its own.
@Observable
public final class SpellingPreferencesViewModel: ViewModel {
    /// A language that has a dictionary.
    public nonisolated struct Language: Identifiable, Equatable, Sendable {
        /// The locale's name, such as `de_DE`.
        public let id: String
        /// What its speakers call it.
        public let name: String
        /// Whether words are checked in it.
        public let isOn: Bool
    }

    public nonisolated struct State: Equatable, Sendable {
        /// Whether the languages are the user's, none having been chosen.
        public var isAutomatic: Bool
        /// The languages that have a dictionary.
        public var languages: [Language] = []
        /// What is checked; `nil` until the dictionaries are known.
        public var status: SpellingStatus?

        /// Whether the languages are the user's until others are chosen: none of the user's has a dictionary to begin with.
        public var isAutomaticOnly: Bool { isAutomatic && status?.dictionaries.isEmpty != false }
        /// Whether there is nothing to choose from.
        public var hasNoDictionaries: Bool { status != nil && languages.isEmpty }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// Checks in the user's languages, or in those of them that have a dictionary as if they had been chosen.
        case setAutomatic(Bool)
        /// Without any language, those of the user are used again.
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
    ///   - chosen: the dictionaries that were chosen; none for those of the user's languages.
    ///   - onChoice: stores what is chosen.
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
            // Chosen ones without a dictionary stay: it may be installed again.
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
