import CGtk
import ChatViewModels
import Composer
import GtkKit

/// Files in a bar: a button before the text, the clipboard, drops, and the tray above the text (SLK-36, MIB-36 to MIB-39).
final class BarFiles {
    let desk: AttachmentDesk
    private let parts: ComposerParts
    private let binding: ComposerBinding

    /// nil where the model takes no files.
    init?(binding: ComposerBinding, parts: ComposerParts) {
        guard let desk = AttachmentDesk(model: binding.model) else { return nil }
        self.desk = desk
        self.parts = parts
        self.binding = binding
        gtk_box_prepend(parts.slots[.start]?.cast(), desk.button.cast())
        parts.slots[.top]?.append(desk.tray.widget)
        binding.editor.pictures.load = { [weak desk] in await desk?.tray.picture(of: $0, fitting: $1, by: $2) }
        binding.editor.onPaste = { [weak desk, textView = parts.textView] in desk?.takePaste(from: textView) ?? false }
        desk.onDone = { [textView = parts.textView] in textView.grabFocus() }
        desk.takeDrops(on: parts.content, hint: nil)
    }

    /// Whether the user sees that files are taken; plug-ins of the host are asked in any case.
    var areOffered = false {
        didSet {
            desk.button.isVisible = areOffered
            desk.tray.widget.isVisible = areOffered
        }
    }

    isolated deinit {
        parts.slots[.start]?.remove(desk.button)
        parts.slots[.top]?.remove(desk.tray.widget)
        binding.editor.onPaste = nil
    }
}
