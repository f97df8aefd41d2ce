import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// Searches users as the user types, and shows the chosen ones.
final class UserPicker {
    let widget: Widget

    private let viewModel: UserSearchViewModel
    private let avatarLoader: AvatarLoader
    private let search: SearchEntry
    private let list: ListBox
    private let chosen: FlowBox
    private let status: Label
    private let texts = UserSearchText(.desktop)
    private var rows: [FoundUserRow] = []
    /// Whether a result was chosen that is not displayed as such yet.
    private var hasUnseenChoice = false
    private var chips: [UserChip] = []
    private var rendering: Rendering?

    init(_ viewModel: UserSearchViewModel, avatarLoader: AvatarLoader) {
        self.viewModel = viewModel
        self.avatarLoader = avatarLoader
        let builder = Builder(resource: Resource.ui("users"))
        widget = builder["picker"]
        search = builder["search"]
        list = builder["people"]
        chosen = builder["chosen"]
        status = builder["status"]
        search.onChange { [weak self] in self?.typed() }
        search.onActivate { [weak self] in self?.choose(.chooseFirst) }
        list.onRowActivated { [weak self] in self?.choose(at: $0) }
        addKeys()
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    func grabFocus() { search.grabFocus() }

    private func typed() { viewModel.send(.search(search.text)) }

    private func choose(at index: Int) {
        // The results may have changed since they were displayed, and a second click would undo the choice.
        guard rows.indices.contains(index), !hasUnseenChoice else { return }
        hasUnseenChoice = true
        choose(.choose(rows[index].user))
        search.grabFocus()
    }

    private func choose(_ action: UserSearchViewModel.Action) {
        viewModel.send(action)
        // Render at once: the next key press belongs to the next name.
        showText(viewModel.state.text)
    }

    private func showText(_ text: String) {
        if search.text != text { search.text = text }
    }

    /// Removes the last chosen user on Backspace in an empty field, as is usual in token fields.
    private func addKeys() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self, key.key == GDK_KEY_BackSpace, self.viewModel.state.canRemoveLast
            else { return false }
            self.viewModel.send(.removeLast)
            return true
        }
        search.addController(keys)
    }

    // MARK: Rendering

    private func render(_ state: UserSearchViewModel.State) {
        hasUnseenChoice = false
        showText(state.text)
        showFound(state)
        showChosen(state.chosen)
        status.text = texts.status(state)
        status.isVisible = !status.text.isEmpty
        status.setStyle("error", state.error != nil)
    }

    private func showFound(_ state: UserSearchViewModel.State) {
        let former = rows
        var reusable = Dictionary(former.map { ($0.user, $0) }) { first, _ in first }
        rows = state.found.map { user in
            reusable.removeValue(forKey: user) ?? FoundUserRow(user, avatarLoader: avatarLoader)
        }
        for row in rows { row.show(isChosen: state.isChosen(row.user)) }
        // Before the list is hidden: GTK would give its focus to a widget elsewhere.
        list.arrange(rows, replacing: former, or: search)
        list.isVisible = !rows.isEmpty
    }

    private func showChosen(_ users: [User]) {
        let former = chips
        var reusable = Dictionary(former.map { ($0.user, $0) }) { first, _ in first }
        chips = users.map { reusable.removeValue(forKey: $0) ?? makeChip($0) }
        chosen.arrange(chips, replacing: former, or: search)
        chosen.isVisible = !chips.isEmpty
    }

    private func makeChip(_ user: User) -> UserChip {
        UserChip(user) { [weak viewModel] in viewModel?.send(.toggle(user)) }
    }
}
