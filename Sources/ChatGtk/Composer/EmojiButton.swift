import GtkKit

/// Opens GTK's emoji chooser; belongs in the composer's end slot.
final class EmojiButton {
    let widget: MenuButton
    /// Called with the chosen emoji.
    var onPick: ((String) -> Void)?

    init() {
        widget = MenuButton()
        widget.iconName = "parlance-emoji-symbolic"
        widget.tooltip = translated("Insert Emoji")
        widget.setAccessibleLabel(translated("Insert Emoji"))
        for style in ["flat", "circular", "parlance-composer-button"] { widget.addStyle(style) }
        widget.opensUpward()
        // Created on first use: it loads a table of all emoji.
        widget.setPopover { [weak self] in
            let chooser = EmojiChooser()
            chooser.onPick { [weak self] in self?.onPick?($0) }
            return chooser
        }
    }

    func open() { widget.popUp() }
}
