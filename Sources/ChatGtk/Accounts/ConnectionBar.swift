import ChatViewModels
import GtkKit

/// A bar above the room list that reports a lost connection or session of the account, with an action to fix it.
final class ConnectionBar {
    let widget: Widget
    var onAction: ((AccountsCoordinator.Banner) -> Void)?

    private let revealer = Revealer()
    private let label = Label()
    private let button = Button()
    private var displayedBanner: AccountsCoordinator.Banner?

    init() {
        widget = revealer
        let row = Box(.horizontal, spacing: 6)
        row.addStyle("connection-bar")
        label.wrap = true
        // Wrap the text instead of widening the room list.
        label.maxWidthChars = 14
        label.xalign = 0
        label.hexpand = true
        button.usesUnderline = true
        button.addStyle("flat")
        button.valign = .center
        row.append(label)
        row.append(button)
        revealer.setChild(row)
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
