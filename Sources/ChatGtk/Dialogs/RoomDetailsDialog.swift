import CGtk
import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit
import MediaGtk

/// A room's name, topic, address and members.
final class RoomDetailsDialog {
    private let window: Widget
    private let name: Widget
    private let topic: Widget
    private let address: Widget
    private let members: Widget
    private let search: Widget
    private let invite: Button
    private let spinner: Widget
    private let viewModel: RoomDetailsViewModel
    private let avatarLoader: AvatarLoader
    private var rows: [Widget] = []
    private var displayedEntries: [RoomMembers.Entry]?
    private var avatars: [AvatarView] = []
    private var rendering: Rendering?

    /// Presents the dialog, which retains itself until it is closed.
    /// - Parameter leave: called when the user wants to leave the room.
    @discardableResult
    static func present(
        _ viewModel: RoomDetailsViewModel, over parent: Widget, avatarLoader: AvatarLoader,
        leave: @escaping @MainActor () -> Void
    ) -> Widget {
        let dialog = RoomDetailsDialog(viewModel, over: parent, avatarLoader: avatarLoader, leave: leave)
        viewModel.start()
        dialog.window.presentDialog(of: dialog)
        return dialog.window
    }

    private init(
        _ viewModel: RoomDetailsViewModel, over parent: Widget, avatarLoader: AvatarLoader,
        leave: @escaping @MainActor () -> Void
    ) {
        self.viewModel = viewModel
        self.avatarLoader = avatarLoader
        let builder = Builder(resource: Resource.ui("room-details"))
        window = builder["window"]
        name = builder["name"]
        topic = builder["topic"]
        address = builder["address"]
        members = builder["members"]
        search = builder["search"]
        invite = builder["invite"]
        spinner = builder["spinner"]
        gtk_window_set_transient_for(window.cast(), parent.cast())
        gtk_editable_set_text(name.cast(), viewModel.state.name)
        name.connect("apply") { [weak self] _ in self?.rename() }
        topic.connect("apply") { [weak self] _ in
            guard let self else { return }
            self.viewModel.send(.setTopic(String(cString: gtk_editable_get_text(self.topic.cast()))))
        }
        search.connect("search-changed") { [weak self] _ in
            guard let self else { return }
            self.viewModel.send(.search(String(cString: gtk_editable_get_text(self.search.cast()))))
        }
        builder["copy", Button.self].onClick { [weak self] in self?.copyAddress() }
        invite.onClick { [weak self] in self?.openInvite() }
        builder["leave", Button.self].onClick { [weak window] in
            window?.closeWindow()
            leave()
        }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    private func rename() {
        viewModel.send(.rename(String(cString: gtk_editable_get_text(name.cast()))))
    }

    private func copyAddress() {
        guard let text = viewModel.state.address, let clipboard = gtk_widget_get_clipboard(window.cast()) else {
            return
        }
        gdk_clipboard_set_text(clipboard, text)
    }

    private func openInvite() {
        guard let inviting = viewModel.inviting() else { return }
        InviteDialog.present(inviting, over: window, avatarLoader: avatarLoader)
    }

    // MARK: Rendering

    private func render(_ state: RoomDetailsViewModel.State) {
        name.setStyle("error", state.error == .invalidName)
        setEditable(name, state.canRename)
        setEditable(topic, state.canSetTopic)
        topic.isVisible = state.hasTopic && (state.canSetTopic || !state.topic.isEmpty)
        if state.topic != lastTopic {
            lastTopic = state.topic
            gtk_editable_set_text(topic.cast(), state.topic)
        }
        address.isVisible = state.address != nil
        address.setProperty("subtitle", Markup.escaped(state.address ?? ""))
        invite.isVisible = state.canInvite
        spinner.setProperty("spinning", state.isLoading)
        spinner.isVisible = state.isLoading
        showMembers(state)
    }

    private var lastTopic = ""

    /// Read-only rows still allow selecting and copying.
    private func setEditable(_ row: Widget, _ isEditable: Bool) {
        gtk_editable_set_editable(row.cast(), isEditable ? 1 : 0)
        adw_entry_row_set_show_apply_button(row.cast(), isEditable ? 1 : 0)
    }

    private func showMembers(_ state: RoomDetailsViewModel.State) {
        let title = translated("%d Member", "%d Members", count: state.memberCount)
        members.setProperty("title", title.replacing("%d", with: "\(state.memberCount)"))
        search.isVisible = state.needsSearch
        let entries = state.listed
        guard entries != displayedEntries else { return }
        displayedEntries = entries
        for row in rows { adw_preferences_group_remove(members.cast(), row.cast()) }
        avatars = []
        rows = entries.map(makeRow)
        for row in rows { adw_preferences_group_add(members.cast(), row.cast()) }
        let more = state.unlistedCount
        guard more > 0 else { return }
        let row = Widget(sinking: adw_action_row_new())
        let text = translated("And %d more: search for them", "And %d more: search for them", count: more)
        row.setProperty("title", text.replacing("%d", with: "\(more)"))
        row.addStyle("dim-label")
        rows.append(row)
        adw_preferences_group_add(members.cast(), row.cast())
    }

    private func makeRow(_ entry: RoomMembers.Entry) -> Widget {
        let member = entry.member
        let row = Widget(sinking: adw_action_row_new())
        row.setProperty("title", Markup.escaped(member.displayName))
        let avatar = AvatarView(size: 32)
        avatar.show(member.displayName, member.avatar, from: avatarLoader)
        avatars.append(avatar)
        adw_action_row_add_prefix(row.cast(), avatar.widget.cast())
        let detail = entry.detail(.gettext)
        if !detail.isEmpty { row.setProperty("subtitle", Markup.escaped(detail)) }
        guard entry.canBeRemoved else { return row }
        let remove = Button(sinking: gtk_button_new_from_icon_name("list-remove-symbolic"))
        let label = translated("Remove %s").replacing("%s", with: member.displayName)
        remove.tooltip = label
        remove.setAccessibleLabel(label)
        remove.addStyle("flat")
        gtk_widget_set_valign(remove.cast(), GTK_ALIGN_CENTER)
        remove.onClick { [weak self] in self?.confirmRemoving(member) }
        adw_action_row_add_suffix(row.cast(), remove.cast())
        return row
    }

    private func confirmRemoving(_ member: Member) {
        Confirmation.present(
            over: window, heading: translated("Remove “%s”?").replacing("%s", with: member.displayName),
            body: translated("They leave the room, and have to be invited to come back."),
            action: translated("_Remove")
        ) { [weak viewModel] in viewModel?.send(.remove(member.id)) }
    }
}
