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
    private let search: Widget
    private let list: Widget
    private let chosen: Widget
    private let status: Label
    private let texts = UserSearchText(.desktop)
    private var rows: [Widget] = []
    private var avatars: [AvatarView] = []
    private var chips: [Widget] = []
    private var rendering: Rendering?

    init(_ viewModel: UserSearchViewModel, avatarLoader: AvatarLoader) {
        self.viewModel = viewModel
        self.avatarLoader = avatarLoader
        let builder = Builder(resource: Resource.ui("people"))
        widget = builder["picker"]
        search = builder["search"]
        list = builder["people"]
        chosen = builder["chosen"]
        status = builder["status"]
        search.connect("changed") { [weak self] _ in self?.typed() }
        search.connect("activate") { [weak self] _ in self?.choose(.chooseFirst) }
        list.connect("row-activated") { [weak self] arguments in
            guard let row = arguments.object(0) else { return }
            self?.choose(at: Int(gtk_list_box_row_get_index(row.assumingMemoryBound(to: GtkListBoxRow.self))))
        }
        addKeys()
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    func grabFocus() { search.grabFocus() }

    private func typed() { viewModel.send(.search(String(cString: gtk_editable_get_text(search.cast())))) }

    private func choose(at index: Int) {
        guard viewModel.state.found.indices.contains(index) else { return }
        choose(.choose(viewModel.state.found[index]))
        search.grabFocus()
    }

    private func choose(_ action: UserSearchViewModel.Action) {
        viewModel.send(action)
        // At once: the next key belongs to the next name.
        showText(viewModel.state.text)
    }

    private func showText(_ text: String) {
        if String(cString: gtk_editable_get_text(search.cast())) != text { gtk_editable_set_text(search.cast(), text) }
    }

    /// Removes the last chosen user on Backspace in an empty field, as is usual in token fields.
    private func addKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { [weak self] arguments in
            guard let self, Int32(bitPattern: arguments.uint(0)) == GDK_KEY_BackSpace,
                self.viewModel.state.canRemoveLast
            else { return false }
            self.viewModel.send(.removeLast)
            return true
        }
        search.addController(keys)
    }

    // MARK: Rendering

    private func render(_ state: UserSearchViewModel.State) {
        showText(state.text)
        for row in rows { gtk_list_box_remove(list.cast(), row.cast()) }
        avatars = []
        rows = state.found.map { makeRow($0, isChosen: state.isChosen($0)) }
        for row in rows { gtk_list_box_append(list.cast(), row.cast()) }
        list.isVisible = !rows.isEmpty
        for chip in chips { gtk_flow_box_remove(chosen.cast(), chip.cast()) }
        chips = state.chosen.map(makeChip)
        for chip in chips { gtk_flow_box_insert(chosen.cast(), chip.cast(), -1) }
        chosen.isVisible = !chips.isEmpty
        status.text = texts.status(state)
        status.isVisible = !status.text.isEmpty
        status.setStyle("error", state.error != nil)
    }

    private func makeRow(_ user: User, isChosen: Bool) -> Widget {
        let row = Widget(sinking: adw_action_row_new())
        row.setProperty("title", Markup.escaped(user.title))
        if user.name != nil { row.setProperty("subtitle", Markup.escaped(user.id.rawValue)) }
        row.setProperty("title-lines", 1)
        row.setProperty("subtitle-lines", 1)
        row.setProperty("activatable", true)
        let avatar = AvatarView(size: 32)
        avatar.show(user.title, user.avatar, from: avatarLoader)
        avatars.append(avatar)
        adw_action_row_add_prefix(row.cast(), avatar.widget.cast())
        if isChosen {
            adw_action_row_add_suffix(row.cast(), gtk_image_new_from_icon_name("object-select-symbolic"))
        }
        return row
    }

    private func makeChip(_ user: User) -> Widget {
        let button = Button(sinking: gtk_button_new())
        let line = Box(.horizontal, spacing: 6)
        let name = Label(user.title)
        gtk_label_set_ellipsize(name.cast(), PANGO_ELLIPSIZE_END)
        gtk_label_set_max_width_chars(name.cast(), 24)
        line.append(name)
        line.append(Widget(sinking: gtk_image_new_from_icon_name("window-close-symbolic")))
        gtk_button_set_child(button.cast(), line.cast())
        button.addStyle("person-chip")
        button.tooltip = user.id.rawValue
        button.setAccessibleLabel(texts.removal(of: user))
        button.onClick { [weak viewModel] in viewModel?.send(.toggle(user)) }
        let child = Widget(sinking: gtk_flow_box_child_new())
        gtk_flow_box_child_set_child(child.cast(), button.cast())
        gtk_widget_set_focusable(child.cast(), 0)
        return child
    }
}
