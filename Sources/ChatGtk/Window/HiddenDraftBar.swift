import ChatCore
import ComposerGtk
import GtkKit

/// Shows the draft of a room to which no messages can be sent, in place of the composer, and copies its text.
final class HiddenDraftBar {
    let widget: Box
    let copy = Button(mnemonic: translated("_Copy"))
    private let label = Label()
    private var text = ""

    init() {
        widget = Box(.horizontal, spacing: 6)
        widget.addStyle("toolbar")
        // With the padding of the style, aligned with the notice above.
        (widget.marginStart, widget.marginEnd) = (6, 6)
        widget.isVisible = false
        label.hexpand = true
        label.xalign = 0
        label.setEllipsize(.end)
        label.lines = 1
        copy.addStyle("flat")
        for child in [label, copy] { widget.append(child) }
        copy.onClick { [weak self] in
            guard let self else { return }
            MessageClipboard.write(self.text, of: self.widget)
        }
    }

    /// What is shown of the draft.
    var preview: String { label.text }

    /// - Parameter draft: `nil` to hide the bar.
    func show(_ draft: String?) {
        text = draft ?? ""
        widget.isVisible = draft != nil
        let line = text.split(whereSeparator: \.isNewline).first.map { String($0.prefix(200)) } ?? ""
        label.text = Translator.gettext("Draft: {text}", ["text": line])
    }
}
