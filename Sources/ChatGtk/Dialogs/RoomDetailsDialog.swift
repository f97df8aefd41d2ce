import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// A room's name and members.
final class RoomDetailsDialog {
    private let window: Widget
    private let name: Widget
    private let members: Widget
    private let viewModel: RoomDetailsViewModel
    private var rows: [Widget] = []
    private var rendering: Rendering?

    /// Shows the dialog, which lives until it is closed.
    static func present(
        _ viewModel: RoomDetailsViewModel, over parent: Widget, leave: @escaping @MainActor () -> Void
    ) {
        let dialog = RoomDetailsDialog(viewModel, over: parent, leave: leave)
        let alive = Alive([dialog])
        dialog.window.intercept("close-request") { _ in
            alive.end()
            return false
        }
        viewModel.start()
        gtk_window_present(dialog.window.cast())
    }

    private init(_ viewModel: RoomDetailsViewModel, over parent: Widget, leave: @escaping @MainActor () -> Void) {
        self.viewModel = viewModel
        let builder = Builder(resource: Resource.ui("room-details"))
        window = builder["window"]
        name = builder["name"]
        members = builder["members"]
        gtk_window_set_transient_for(window.cast(), parent.cast())
        gtk_editable_set_text(name.cast(), viewModel.state.name)
        name.connect("apply") { [weak self] _ in self?.rename() }
        builder["leave", Button.self].onClick { [weak window] in
            if let window { gtk_window_close(window.cast()) }
            leave()
        }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    private func rename() {
        let text = String(cString: gtk_editable_get_text(name.cast()))
        guard let valid = RoomName.valid(text) else {
            name.addStyle("error")
            return
        }
        name.removeStyle("error")
        viewModel.send(.rename(valid))
    }

    private func render(_ state: RoomDetailsViewModel.State) {
        name.setStyle("error", state.error != nil)
        for row in rows { adw_preferences_group_remove(members.cast(), row.cast()) }
        rows = state.members.map { makeRow($0, state) }
        for row in rows { adw_preferences_group_add(members.cast(), row.cast()) }
    }

    private func makeRow(_ member: Member, _ state: RoomDetailsViewModel.State) -> Widget {
        let row = Widget(borrowing: adw_action_row_new())
        row.setProperty("title", NoticeText.escaped(member.displayName))
        let avatar = Widget(borrowing: adw_avatar_new(32, member.displayName, 1))
        adw_action_row_add_prefix(row.cast(), avatar.cast())
        switch member.kind {
        case .own: row.setProperty("subtitle", translated("You"))
        case .guide: row.setProperty("subtitle", translated("Built-in guide"))
        case .person: break
        }
        guard state.canRemove(member) else { return row }
        let remove = Button(borrowing: gtk_button_new_from_icon_name("list-remove-symbolic"))
        let label = translated("Remove %s").replacing("%s", with: member.displayName)
        remove.tooltip = label
        remove.setAccessibleLabel(label)
        remove.addStyle("flat")
        gtk_widget_set_valign(remove.cast(), GTK_ALIGN_CENTER)
        remove.onClick { [weak viewModel] in viewModel?.send(.remove(member.id)) }
        adw_action_row_add_suffix(row.cast(), remove.cast())
        return row
    }
}
