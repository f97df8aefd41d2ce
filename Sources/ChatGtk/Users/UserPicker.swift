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
    private var rows: [ActionRow] = []
    /// The users of the rows. What was found meanwhile is shown a little later.
    private var displayedUsers: [User] = []
    private var avatars: [AvatarView] = []
    private var chips: [FlowBoxChild] = []
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
        guard displayedUsers.indices.contains(index) else { return }
        let user = displayedUsers[index]
        // A second click before the rows are drawn anew would undo the choice.
        displayedUsers = []
        choose(.choose(user))
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
        showText(state.text)
        for row in rows { list.remove(row) }
        avatars = []
        displayedUsers = state.found
        rows = state.found.map { makeRow($0, isChosen: state.isChosen($0)) }
        for row in rows { list.append(row) }
        list.isVisible = !rows.isEmpty
        for chip in chips { chosen.remove(chip) }
        chips = state.chosen.map(makeChip)
        for chip in chips { chosen.append(chip) }
        chosen.isVisible = !chips.isEmpty
        status.text = texts.status(state)
        status.isVisible = !status.text.isEmpty
        status.setStyle("error", state.error != nil)
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
        line.append(Image(icon: "parlance-close-symbolic"))
        button.setChild(line)
        button.addStyle("user-chip")
        button.tooltip = user.id.rawValue
        button.setAccessibleLabel(texts.removal(of: user))
        button.onClick { [weak viewModel] in viewModel?.send(.toggle(user)) }
        let child = FlowBoxChild(button)
        child.isFocusable = false
        return child
    }
}
