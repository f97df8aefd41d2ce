import CGtk
import ChatViewModels
import GtkKit

/// A bar above the room list that reports a lost connection or session of the account, with an action to fix it.
final class ConnectionBar {
    let widget: Widget
    var onAction: ((AccountsCoordinator.Banner) -> Void)?

    private let revealer = Revealer(sinking: gtk_revealer_new())
    private let label = Label()
    private let button = Button(sinking: gtk_button_new())
    private var displayedBanner: AccountsCoordinator.Banner?

    init() {
        widget = revealer
        let row = Box(.horizontal, spacing: 6)
        row.addStyle("connection-bar")
        gtk_label_set_wrap(label.cast(), 1)
        // Wrap the text instead of widening the room list.
        gtk_label_set_max_width_chars(label.cast(), 14)
        gtk_label_set_xalign(label.cast(), 0)
        gtk_widget_set_hexpand(label.cast(), 1)
        gtk_button_set_use_underline(button.cast(), 1)
        button.addStyle("flat")
        gtk_widget_set_valign(button.cast(), GTK_ALIGN_CENTER)
        row.append(label)
        row.append(button)
        gtk_revealer_set_child(revealer.cast(), row.cast())
        button.onClick { [weak self] in
            guard let self, let displayedBanner = self.displayedBanner else { return }
            self.onAction?(displayedBanner)
        }
    }

    func show(_ banner: AccountsCoordinator.Banner?) {
        displayedBanner = banner
        revealer.isRevealed = banner != nil
        guard let banner else { return }
        let (text, action) = SignInText(.desktop).text(for: banner)
        label.text = text
        button.label = action
        label.setStyle("error", banner != .connecting && banner != .offline)
    }

    var text: String { displayedBanner == nil ? "" : label.text }
}
