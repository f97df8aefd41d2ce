import CGtk
import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// Searches users as the user types, and shows the chosen ones.
final class UserPicker {
    let widget: Widget
    /// Called when a user is chosen from the list. If set, the picker does not collect a selection.
    var onChoose: ((User) -> Void)?

    private let viewModel: UserSearchViewModel
    private let avatarLoader: AvatarLoader
    private let search: SearchEntry
    private let list: ListBox
    private let chosen: FlowBox
    private let status: Label
    private var rows: [ActionRow] = []
    private var avatars: [AvatarView] = []
    private var chips: [FlowBoxChild] = []
    private var rendering: Rendering?
    /// Whether Return was pressed before the search results arrived.
    private var isWaiting = false

    init(_ viewModel: UserSearchViewModel, avatarLoader: AvatarLoader) {
        self.viewModel = viewModel
        self.avatarLoader = avatarLoader
        let builder = Builder(resource: Resource.ui("people"))
        widget = builder["picker"]
        search = builder["search"]
        list = builder["people"]
        chosen = builder["chosen"]
        status = builder["status"]
        search.onChange { [weak self] in self?.typed() }
        search.onActivate { [weak self] in self?.enter() }
        list.onRowActivated { [weak self] in self?.choose(at: $0) }
        addKeys()
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    func grabFocus() { search.grabFocus() }

    private func typed() {
        isWaiting = false
        viewModel.send(.search(search.text))
    }

    /// Chooses the first result for the current text; waits for it while a search is running.
    private func enter() {
        isWaiting = viewModel.state.isSearching
        if !isWaiting { choose(at: 0) }
    }

    private func searchFinished() {
        guard isWaiting, !viewModel.state.isSearching else { return }
        isWaiting = false
        choose(at: 0)
    }

    private func choose(at index: Int) {
        guard viewModel.state.found.indices.contains(index) else { return }
        let user = viewModel.state.found[index]
        if let onChoose { return onChoose(user) }
        viewModel.send(.toggle(user))
        // Clear the field for the next name.
        search.text = ""
        search.grabFocus()
    }

    /// Removes the last chosen user on Backspace in an empty field, as is usual in token fields.
    private func addKeys() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self, key.key == GDK_KEY_BackSpace,
                self.search.text.isEmpty, !self.viewModel.state.chosen.isEmpty
            else { return false }
            self.viewModel.send(.removeLast)
            return true
        }
        search.addController(keys)
    }

    // MARK: Rendering

    private func render(_ state: UserSearchViewModel.State) {
        for row in rows { list.remove(row) }
        avatars = []
        rows = state.found.map { makeRow($0, isChosen: state.isChosen($0)) }
        for row in rows { list.append(row) }
        list.isVisible = !rows.isEmpty
        for chip in chips { chosen.remove(chip) }
        chips = state.chosen.map(makeChip)
        for chip in chips { chosen.append(chip) }
        chosen.isVisible = !chips.isEmpty
        status.text =
            state.error.map { ToastText(.desktop).text(for: $0) }
            ?? (state.isEmpty ? translated("Nobody was found.") : "")
        status.isVisible = !status.text.isEmpty
        status.setStyle("error", state.error != nil)
        if isWaiting, !state.isSearching { Task { [weak self] in self?.searchFinished() } }
    }

    private func makeRow(_ user: User, isChosen: Bool) -> ActionRow {
        let row = ActionRow(user.title)
        if user.name != nil { row.setSubtitle(user.id.rawValue) }
        row.limitToOneLineEach()
        row.isActivatable = true
        let avatar = AvatarView(size: 32)
        avatar.show(user.title, user.avatar, from: avatarLoader)
        avatars.append(avatar)
        row.addPrefix(avatar.widget)
        if isChosen {
            row.addSuffix(Image(icon: "object-select-symbolic"))
        }
        return row
    }

    private func makeChip(_ user: User) -> FlowBoxChild {
        let button = Button()
        let line = Box(.horizontal, spacing: 6)
        let name = Label(user.title)
        name.setEllipsize(.end)
        name.maxWidthChars = 24
        line.append(name)
        line.append(Image(icon: "window-close-symbolic"))
        button.setChild(line)
        button.addStyle("person-chip")
        button.tooltip = user.id.rawValue
        button.setAccessibleLabel(translated("Remove %s").replacing("%s", with: user.title))
        button.onClick { [weak viewModel] in viewModel?.send(.toggle(user)) }
        let child = FlowBoxChild(button)
        child.isFocusable = false
        return child
    }
}
