import ChatCore
import ComposerSessions

/// Checks the spelling in a room's session, according to the user's preferences and the languages chosen for the room.
final class RoomSpelling {
    private let session: ComposerSession
    private let checker: (any SpellChecker)?
    private let languages: (any WritingLanguageService)?
    private let roomID: RoomID
    private let onWordAdded: () -> Void
    private var preferences: WritingPreferences
    /// The dictionaries chosen for this room, once loaded; `nil` for those of the preferences.
    private var chosen: [String]?
    private var areLanguagesKnown = false
    /// Stores the choices one after the other: the first of two must not replace the second.
    private lazy var sink = LatestValueSink<[String]> { [weak session, languages, roomID] in
        do { try await languages?.saveWritingLanguages($0, in: roomID) } catch { session?.report(ChatError(error)) }
    }

    /// - Parameters:
    ///   - checker: judges words; `nil` if spelling is not checked.
    ///   - languages: remembers the room's languages; `nil` if it has none of its own.
    ///   - onWordAdded: called when the user added a word to a dictionary.
    init(
        in session: ComposerSession, of roomID: RoomID, by checker: (any SpellChecker)?,
        languages: (any WritingLanguageService)?, _ preferences: WritingPreferences,
        onWordAdded: @escaping () -> Void
    ) {
        self.session = session
        self.roomID = roomID
        self.checker = checker
        self.languages = languages
        self.preferences = preferences
        self.onWordAdded = onWordAdded
    }

    func setPreferences(_ preferences: WritingPreferences) {
        let before = self.preferences
        self.preferences = preferences
        guard preferences.spelling != before.spelling || preferences.addedWords != before.addedWords else { return }
        apply()
    }

    /// Loads the room's languages. Spelling is not checked before.
    func load() async {
        let stored = await Result { [languages, roomID] in try await languages?.writingLanguages(in: roomID) }
        switch stored {
        case .success(let chosen): self.chosen = chosen
        case .failure(let error): session.report(ChatError(error))
        }
        areLanguagesKnown = true
        apply()
    }

    private func apply() {
        guard areLanguagesKnown, let spelling = preferences.spelling else {
            return session.checkSpelling(by: nil, in: .dictionaries([]))
        }
        session.checkSpelling(by: checker, in: chosen.map { SpellingChoice.dictionaries($0) } ?? spelling)
        session.spelling?.onChoice = { [weak self] in self?.save($0) }
        session.spelling?.onAdded = { [weak self] in self?.onWordAdded() }
    }

    private func save(_ chosen: [String]) {
        self.chosen = chosen
        sink.put(chosen)
    }
}
