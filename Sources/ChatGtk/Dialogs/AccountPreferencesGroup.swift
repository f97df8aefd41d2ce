import ChatViewModels
import Foundation
import GtkKit

/// The rows of one account in the preferences.
final class AccountPreferencesGroup {
    let widget: PreferencesGroup
    let entry = EntryRow(translated("Add Keyword"))
    private let viewModel: AccountPreferencesViewModel
    /// The keyword entered last, restored to the field if it could not be added; empty once it is among the keywords.
    private var added = ""
    private var rows: [KeywordRow] = []
    private let problem = ActionRow("")
    private var rendering: Rendering?

    private struct KeywordRow: ArrangedRow {
        let keyword: String
        let widget: ActionRow
        let remove: Button

        var id: String { keyword }

        func grabFocus() { remove.grabFocus() }
    }

    init(_ viewModel: AccountPreferencesViewModel, settings: Settings) {
        self.viewModel = viewModel
        let account = viewModel.state.account
        widget = PreferencesGroup(title: viewModel.state.name.isEmpty ? account : viewModel.state.name)
        widget.setDescription(account)
        addPrivacyRow(account, settings)
        entry.showsApplyButton = true
        entry.labelButtons()
        entry.onApply { [weak self] in self?.add() }
        entry.isSensitive = false
        widget.add(entry)
        problem.addStyle("error")
        problem.isVisible = false
        widget.add(problem)
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    private func addPrivacyRow(_ account: String, _ settings: Settings) {
        let row = ActionRow(translated("Private"))
        row.setSubtitle(translated("Others cannot see what you have read or that you are typing"))
        let control = Switch()
        control.valign = .center
        control.isActive = settings.strings("private-accounts").contains(account)
        control.onChange { isOn in
            let others = settings.strings("private-accounts").filter { $0 != account }
            settings.set("private-accounts", isOn ? others + [account] : others)
        }
        row.addSuffix(control)
        row.setActivatableWidget(control)
        widget.add(row)
    }

    private func add() {
        let word = entry.text
        guard !word.allSatisfy(\.isWhitespace) else { return }
        added = word
        entry.text = ""
        viewModel.send(.addKeyword(word))
    }

    private func render(_ state: AccountPreferencesViewModel.State) {
        entry.isSensitive = state.keywords != nil
        let keywords = state.keywords ?? []
        // Another failure must not restore it.
        if keywords.contains(added.trimmingCharacters(in: .whitespacesAndNewlines)) { added = "" }
        let text = state.error.map { ToastText(.desktop).text(for: $0) }
        problem.isVisible = text != nil
        if let text {
            problem.setTitle(text)
            if entry.text.isEmpty { entry.text = added }
            added = ""
        }
        let former = rows
        var reusable = Dictionary(former.map { ($0.keyword, $0) }) { first, _ in first }
        rows = keywords.map { reusable.removeValue(forKey: $0) ?? makeRow($0) }
        widget.arrange(rows, replacing: former, or: entry)
    }

    private func makeRow(_ keyword: String) -> KeywordRow {
        let row = ActionRow(keyword)
        row.setSubtitle(translated("Notifies like a mention"))
        let button = Button(icon: "parlance-close-symbolic")
        button.addStyle("flat")
        button.valign = .center
        button.tooltip = translated("Remove Keyword")
        button.setAccessibleLabel(translated("Remove keyword {name}", ["name": keyword]))
        button.onClick { [weak viewModel] in viewModel?.send(.removeKeyword(keyword)) }
        row.addSuffix(button)
        return KeywordRow(keyword: keyword, widget: row, remove: button)
    }
}
