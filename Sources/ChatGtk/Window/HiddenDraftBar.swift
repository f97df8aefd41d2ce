import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// Shows the draft of a room to which no messages can be sent, in place of the composer. Copies its text, and moves it
/// to the room that replaced this one.
final class HiddenDraftBar {
    let widget: Box
    let copy = Button(mnemonic: translated("_Copy"))
    let move = Button(mnemonic: translated("_Move"))
    var onMove: (() -> Void)?
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
        for button in [copy, move] { button.addStyle("flat") }
        for child in [label, copy, move] { widget.append(child) }
        move.tooltip = translated("Move to New Room")
        move.onClick { [weak self] in self?.onMove?() }
        copy.onClick { [weak self] in
            guard let self else { return }
            MessageClipboard.write(self.text, of: self.widget)
        }
    }

    /// What is shown of the draft.
    var preview: String { label.text }

    /// - Parameter draft: `nil` to hide the bar.
    func show(_ draft: HiddenDraft?) {
        text = draft?.text ?? ""
        widget.isVisible = draft != nil
        copy.isVisible = !text.isEmpty
        move.isVisible = draft?.canBeMoved == true
        label.text = Translator.gettext("Draft: {text}", ["text": draft?.preview ?? ""])
    }
}
