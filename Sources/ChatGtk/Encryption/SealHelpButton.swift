import ChatViewModels
import GtkKit

/// A button below the reason why a message cannot be read, with the action that may help.
final class SealHelpButton {
    private let button = Button()
    private var help: SealHelp?
    var widget: Widget { button }

    init(_ onHelp: @escaping @MainActor (SealHelp) -> Void) {
        button.addStyle("seal-help")
        button.halign = .start
        button.onClick { [weak self] in if let help = self?.help { onHelp(help) } }
    }

    func show(_ help: SealHelp?) {
        self.help = help
        button.isVisible = help != nil
        if let help { button.label = MessageText.localized.button(help) }
    }
}
