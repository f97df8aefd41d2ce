import CGtk
import ChatViewModels
import GtkKit

/// Shows toasts above the composer, so that they do not cover the text being written.
final class ToastPresenter {
    private let overlay: Widget
    /// The children of the overlay, as a list model.
    private let children: Object
    private let conversation: @MainActor () -> ConversationView?

    /// - Parameter conversation: returns the conversation that is visible, if any.
    init(overlay: Widget, conversation: @escaping @MainActor () -> ConversationView?) {
        self.overlay = overlay
        self.conversation = conversation
        children = Object(owning: UnsafeMutableRawPointer(gtk_widget_observe_children(overlay.cast())))
        children.connect("items-changed") { [weak self] _ in self?.position() }
    }

    /// - Parameter undo: undoes what the toast reports, if it can be undone.
    func show(_ content: WindowRequests.Toast, undo: @escaping @MainActor () -> Void = {}) {
        guard let text = ToastText(.desktop).text(for: content), let toast = adw_toast_new(text) else { return }
        // AdwToast parses its title as Pango markup.
        let toastObject = Object(borrowing: UnsafeMutableRawPointer(toast))
        toastObject.setProperty("title", Markup.escaped(text))
        if case .cleared = content {
            toastObject.setProperty("button-label", translated("Undo"))
            toastObject.connect("button-clicked") { _ in undo() }
        }
        adw_toast_overlay_add_toast(overlay.cast(), toast)
    }

    private func position() {
        guard let view = conversation(), let top = view.composerTop else { return }
        for toast in overlay.children where String(cString: gtk_widget_get_css_name(toast.cast())) == "toast" {
            gtk_widget_set_margin_bottom(toast.cast(), Int32(max(0, Double(view.widget.height) - top)))
            // The start margin centers the toast over the conversation.
            let start = view.widget.bounds(in: overlay)?.x ?? 0
            gtk_widget_set_margin_start(toast.cast(), Int32(max(0, start)))
        }
    }
}
