import ChatViewModels
import ComposerGtk
import GtkKit

/// The banner above the room list, or above the messages in a room's own window, that shows the next step of the
/// account's encryption setup.
final class EncryptionBar {
    var onAction: (() -> Void)?
    private let view = Banner()
    var widget: Widget { view.widget }

    init() {
        view.isProblem = true
        view.onButtonClick { [weak self] in self?.onAction?() }
    }

    func show(_ need: EncryptionNeed?) {
        view.isRevealed = need != nil
        guard let need else { return }
        (view.title, view.buttonLabel) = EncryptionText(.gettext).banner(need)
    }
}
