import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// The name of the displayed account as a button that opens the account list.
final class AccountSwitcher {
    let widget: MenuButton
    var onSelect: ((String) -> Void)?
    var onAdd: (() -> Void)?
    /// Called to sign in to the account again.
    var onSignIn: ((AccountsCoordinator.Row) -> Void)?
    var onLogOut: ((AccountsCoordinator.Row) -> Void)?

    private let title = Label()
    private let unreadIndicator = Label("●")
    private let popover = Widget(sinking: gtk_popover_new())
    private let list = Widget(sinking: gtk_list_box_new())
    private let signIn = Button(sinking: gtk_button_new())
    private let logOut = Button(sinking: gtk_button_new())
    private var rows: [AccountsCoordinator.Row] = []

    init() {
        widget = MenuButton(sinking: gtk_menu_button_new())
        buildButton()
        buildPopover()
        list.connect("row-activated") { [weak self] arguments in
            guard let self, let pointer = arguments.object(0) else { return }
            let index = Int(gtk_list_box_row_get_index(pointer.assumingMemoryBound(to: GtkListBoxRow.self)))
            self.choose(index)
        }
    }

    func show(_ rows: [AccountsCoordinator.Row]) {
        self.rows = rows
        let displayedRow = rows.first { $0.isSelected }
        title.text = displayedRow.map { AccountText(.desktop).name(of: $0) } ?? ""
        unreadIndicator.isVisible = rows.contains { !$0.isSelected && $0.unreadCount > 0 }
        widget.tooltip = translated("Accounts")
        widget.setAccessibleLabel(AccountText(.desktop).accessibleText(of: rows))
        for child in list.children { gtk_list_box_remove(list.cast(), child.cast()) }
        for row in rows {
            let item = AccountRow.make(row)
            gtk_list_box_append(list.cast(), item.cast())
        }
        signIn.isVisible = displayedRow?.canSignInAgain == true
        logOut.isVisible = displayedRow?.isLocal == false
    }

    private func choose(_ index: Int) {
        guard rows.indices.contains(index) else { return }
        gtk_popover_popdown(popover.cast())
        onSelect?(rows[index].id)
    }

    // MARK: Building

    private func buildButton() {
        widget.addStyle("flat")
        let line = Box(.horizontal, spacing: 6)
        title.addStyle("heading")
        gtk_label_set_ellipsize(title.cast(), PANGO_ELLIPSIZE_END)
        unreadIndicator.addStyle("account-mark")
        line.append(title)
        line.append(unreadIndicator)
        line.append(Widget(sinking: gtk_image_new_from_icon_name("pan-down-symbolic")))
        gtk_menu_button_set_child(widget.cast(), line.cast())
        gtk_menu_button_set_popover(widget.cast(), popover.cast())
    }

    private func buildPopover() {
        let content = Box(.vertical, spacing: 6)
        gtk_widget_set_size_request(content.cast(), 280, -1)
        list.addStyle("account-list")
        list.setAccessibleLabel(translated("Accounts"))
        gtk_list_box_set_selection_mode(list.cast(), GTK_SELECTION_NONE)
        let scroller = ScrolledWindow(list)
        gtk_scrolled_window_set_policy(scroller.cast(), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_propagate_natural_height(scroller.cast(), 1)
        scroller.setContentHeight(minimum: -1, maximum: 400)
        content.append(scroller)
        content.append(Widget(sinking: gtk_separator_new(GTK_ORIENTATION_HORIZONTAL)))
        let add = Button(sinking: gtk_button_new())
        for (button, label) in [
            (signIn, translated("_Sign In Again…")), (logOut, translated("_Log Out…")),
            (add, translated("_Add Account…")),
        ] {
            gtk_button_set_label(button.cast(), label)
            gtk_button_set_use_underline(button.cast(), 1)
            button.addStyle("flat")
            if let inner = button.children.first { gtk_widget_set_halign(inner.cast(), GTK_ALIGN_START) }
            content.append(button)
        }
        add.onClick { [weak self] in self?.act { self?.onAdd?() } }
        signIn.onClick { [weak self] in self?.act { self?.withDisplayedRow { self?.onSignIn?($0) } } }
        logOut.onClick { [weak self] in self?.act { self?.withDisplayedRow { self?.onLogOut?($0) } } }
        gtk_popover_set_child(popover.cast(), content.cast())
    }

    private func act(_ action: () -> Void) {
        gtk_popover_popdown(popover.cast())
        action()
    }

    private func withDisplayedRow(_ action: (AccountsCoordinator.Row) -> Void) {
        if let displayedRow = rows.first(where: { $0.isSelected }) { action(displayedRow) }
    }
}
