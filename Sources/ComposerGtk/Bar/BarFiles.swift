import Composer
import ComposerSessions
import GtkKit

/// File support of a bar: a button with a menu, paste, drops, and the tray above the text (SLK-36, MIB-36 to MIB-39).
final class BarFiles {
    let attachmentController: AttachmentController
    private let widgets: ComposerWidgets
    private let binding: ComposerBinding

    /// Returns `nil` if the model does not accept files.
    /// - Parameter acceptsDrops: Whether files can be dropped on the bar; otherwise the host has named another area.
    init?(binding: ComposerBinding, widgets: ComposerWidgets, acceptsDrops: Bool) {
        guard let attachmentController = AttachmentController(model: binding.model) else { return nil }
        self.attachmentController = attachmentController
        self.widgets = widgets
        self.binding = binding
        widgets.slots[.start]?.prepend(attachmentController.button)
        widgets.slots[.top]?.append(attachmentController.tray.widget)
        binding.editor.inlineImages.load = { [weak attachmentController] in
            await attachmentController?.tray.image(of: $0, fitting: $1, by: $2)
        }
        binding.editor.onPaste = { [weak attachmentController, textView = widgets.textView] in
            attachmentController?.handlePaste(from: textView) ?? false
        }
        attachmentController.onDone = { [textView = widgets.textView] in textView.grabFocus() }
        attachmentController.isShown = { [revealer = widgets.revealer] in revealer.isMapped }
        if acceptsDrops { attachmentController.acceptDrops(on: widgets.content, hint: nil) }
    }

    /// Whether the attach button and the tray are visible. Host plug-ins are consulted in any case.
    var areOffered = false {
        didSet {
            attachmentController.button.isVisible = areOffered
            attachmentController.tray.widget.isVisible = areOffered
        }
    }

    isolated deinit {
        widgets.slots[.start]?.remove(attachmentController.button)
        widgets.slots[.top]?.remove(attachmentController.tray.widget)
        binding.editor.onPaste = nil
    }
}
