import ChatViewModels
import ComposerGtk
import GtkKit

/// The preferences rows that choose the spelling languages.
final class SpellingLanguagesGroup {
    let widget = PreferencesGroup(title: translated("Spelling Languages"))
    private let viewModel: SpellingPreferencesViewModel
    private let automatic: SwitchRow
    private var languages: [(id: String, row: SwitchRow)] = []
    private var rendering: Rendering?

    /// - Parameter summary: the row that describes which languages are checked.
    init(_ viewModel: SpellingPreferencesViewModel, summary: ActionRow) {
        self.viewModel = viewModel
        automatic = SwitchRow(translated("Use System Languages"))
        automatic.onChange = { [weak self] in self?.send(.setAutomatic($0)) }
        widget.add(automatic.widget)
        rendering = Rendering({ viewModel.state }) { [weak self] state in
            self?.render(state)
            if let status = state.status { summary.setSubtitle(status.description(.gettext)) }
        }
    }

    private func render(_ state: SpellingPreferencesViewModel.State) {
        automatic.show(isOn: state.isAutomatic)
        automatic.widget.isVisible = !state.hasNoDictionaries
        automatic.widget.isSensitive = !state.isAutomaticOnly
        widget.setDescription(state.hasNoDictionaries ? translated("No dictionaries are installed.") : "")
        if state.languages.map(\.id) != languages.map(\.id) {
            for language in languages { widget.remove(language.row.widget) }
            languages = state.languages.map { ($0.id, makeRow($0)) }
            for language in languages { widget.add(language.row.widget) }
        }
        for (language, shown) in zip(state.languages, languages) {
            shown.row.show(isOn: language.isOn)
        }
    }

    private func makeRow(_ language: SpellingPreferencesViewModel.Language) -> SwitchRow {
        let row = SwitchRow(language.name)
        row.onChange = { [weak self] in self?.send(.setLanguage(language.id, isOn: $0)) }
        return row
    }

    /// Sets the switch back if the action changed nothing, like turning off the only language in use. Later than the
    /// switch's own signal: GTK would report the wrong position to assistive technology after it.
    private func send(_ action: SpellingPreferencesViewModel.Action) {
        viewModel.send(action)
        Task { [weak self] in
            guard let self else { return }
            render(viewModel.state)
        }
    }
}

/// A row with a switch. (libadwaita has AdwSwitchRow only from 1.4 on.)
final class SwitchRow {
    let widget: ActionRow
    private let control = Switch()
    private var isRendering = false
    /// Called when the user toggles the switch.
    var onChange: ((Bool) -> Void)?

    init(_ title: String) {
        widget = ActionRow(title)
        control.valign = .center
        widget.addSuffix(control)
        widget.setActivatableWidget(control)
        control.onChange { [weak self] isOn in
            guard let self, !isRendering else { return }
            onChange?(isOn)
        }
    }

    func show(isOn: Bool) {
        guard control.isActive != isOn else { return }
        isRendering = true
        control.isActive = isOn
        isRendering = false
    }
}
