import ChatViewModels
import ComposerGtk
import GtkKit

/// The banner above the room list that says what is missing in the account's encryption.
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
