import ChatViewModels
import GtkKit

/// The banner above the room list that reports a lost connection or session of the account, with an action to fix it.
final class ConnectionBar {
    var onAction: ((AccountsCoordinator.Banner) -> Void)?

    private let view = Banner()
    private var displayedBanner: AccountsCoordinator.Banner?

    var widget: Widget { view.widget }

    init() {
        view.onButtonClick { [weak self] in
            guard let self, let displayedBanner = self.displayedBanner else { return }
            self.onAction?(displayedBanner)
        }
    }

    func show(_ banner: AccountsCoordinator.Banner?) {
        displayedBanner = banner
        view.isRevealed = banner != nil
        guard let banner else { return }
        let (text, action) = SignInText(.desktop).text(for: banner)
        view.title = text
        view.buttonLabel = action
        view.isProblem = banner.isProblem
    }

    var text: String { displayedBanner == nil ? "" : view.title }
}
