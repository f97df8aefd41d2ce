import Composer
import ComposerSessions
import GtkKit

/// The context menu's items for a misspelled word, and the spelling languages (PAR-2, PAR-3).
final class SpellingMenu {
    /// Suggestions, at the top of the menu.
    let suggestions = Menu()
    /// Other actions on the word.
    let word = Menu()
    /// The submenu of languages.
    let languages = Menu()

    private let model: any ComposerModel
    private let actions: ActionGroup
    private let languageItems = Menu()
    private var toggles: [String: Action] = [:]
    private var isOn: [String: Bool] = [:]
    /// The word at the menu's position.
    private var target: (range: TextRange, text: String)?
    private var filling: Task<Void, Never>?

    private static let maxSuggestions = 5

    init(model: any ComposerModel, actions: ActionGroup) {
        self.model = model
        self.actions = actions
        actions.add("correct", withString: { [weak self] in self?.replace(with: $0) })
        actions.add("add-word", withString: { [weak self] in self?.add(to: $0) })
        actions.add("ignore-word") { [weak self] in
            guard let self, let target = self.target else { return }
            self.model.spelling?.ignore(target.text)
        }
    }

    isolated deinit { filling?.cancel() }

    // MARK: Filling

    /// Fills the menu for the word at an offset. Suggestions are added as soon as they are found.
    func update(at offset: Int) {
        filling?.cancel()
        target = nil
        for menu in [suggestions, word, languages] { menu.removeAll() }
        guard let spelling = model.spelling else { return }
        languages.append(translated("_Spelling Languages"), submenu: languageItems)
        if let range = model.misspelling(at: offset) {
            target = (range, model.document.text(in: range))
            suggestions.append(translated("Looking for Suggestions…"), Self.noAction)
        }
        filling = Task { [weak self, target] in
            let languages = await spelling.languages()
            guard !Task.isCancelled else { return }
            self?.show(languages)
            guard let target else { return }
            let found = await spelling.suggestions(for: target.text)
            guard !Task.isCancelled else { return }
            self?.show(suggestions: found)
        }
    }

    /// Items with this action are disabled.
    private static let noAction = "composer.no-suggestion"

    private func show(suggestions found: [String]) {
        suggestions.removeAll()
        if found.isEmpty { suggestions.append(translated("No Suggestions"), Self.noAction) }
        for suggestion in found.prefix(Self.maxSuggestions) {
            suggestions.append(Self.label(suggestion), "composer.correct::\(suggestion)")
        }
    }

    /// Escapes mnemonics.
    private static func label(_ text: String) -> String { text.replacing("_", with: "__") }

    private func show(_ all: [ComposerSpelling.Language]) {
        languageItems.removeAll()
        for language in all {
            isOn[language.id] = language.isOn
            toggle(for: language).isOn = language.isOn
            languageItems.append(Self.label(language.name), "composer.\(Self.action(for: language))")
        }
        if all.isEmpty { languageItems.append(translated("No Dictionaries Installed"), Self.noAction) }
        guard target != nil else { return }
        showWordItems(all.filter(\.isOn))
    }

    private func showWordItems(_ used: [ComposerSpelling.Language]) {
        word.removeAll()
        if used.count == 1, let language = used.first {
            word.append(translated("Add to _Dictionary"), "composer.add-word::\(language.id)")
        } else if !used.isEmpty {
            let dictionaries = Menu()
            for language in used { dictionaries.append(Self.label(language.name), "composer.add-word::\(language.id)") }
            word.append(translated("Add to _Dictionary"), submenu: dictionaries)
        }
        word.append(translated("_Ignore Word"), "composer.ignore-word")
    }

    // MARK: Acting

    private func replace(with suggestion: String) {
        if let target { model.handle(.replaceWord(target.range, with: suggestion)) }
    }

    private func add(to language: String) {
        guard let target, let spelling = model.spelling else { return }
        Task { await spelling.add(target.text, to: language) }
    }

    private func toggle(for language: ComposerSpelling.Language) -> Action {
        if let action = toggles[language.id] { return action }
        let id = language.id
        let action = actions.add(Self.action(for: language), isOn: language.isOn) { [weak self] in
            guard let self, let spelling = self.model.spelling else { return }
            let turnsOn = !(self.isOn[id] ?? false)
            Task { await spelling.setLanguage(id, isOn: turnsOn) }
        }
        toggles[language.id] = action
        return action
    }

    /// Action names must not contain underscores.
    private static func action(for language: ComposerSpelling.Language) -> String {
        "language-\(language.id.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "-" }.joined())"
    }
}
