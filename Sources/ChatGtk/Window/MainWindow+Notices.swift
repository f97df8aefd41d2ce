import CGtk
import ChatViewModels
import GtkKit

/// Toasts.
extension MainWindow {
    func show(_ content: ConversationCoordinator.Toast) {
        guard let text = ToastText.text(for: content), let toast = adw_toast_new(text) else { return }
        // AdwToast parses its title as Pango markup.
        let toastObject = Object(borrowing: UnsafeMutableRawPointer(toast))
        toastObject.setProperty("title", ToastText.escaped(text))
        if case .cleared(let room) = content {
            toastObject.setProperty("button-label", translated("Undo"))
            toastObject.connect("button-clicked") { [weak self, weak coordinator] _ in
                coordinator?.undoClearing(room)
                self?.conversationView?.focusComposer()
            }
        }
        adw_toast_overlay_add_toast(toasts.cast(), toast)
    }

    /// Positions toasts above the composer, so that they do not cover the text being written.
    func positionToasts() {
        overlaid.connect("items-changed") { [weak self] _ in
            guard let self else { return }
            for child in self.toasts.children where String(cString: gtk_widget_get_css_name(child.cast())) == "toast" {
                self.positionToast(child)
            }
        }
    }

    private func positionToast(_ toast: Widget) {
        let hasConversation = conversationView != nil && (!panes.isFolded || panes.visiblePane == .content)
        guard hasConversation, let view = conversationView, let top = view.composerTop else { return }
        gtk_widget_set_margin_bottom(toast.cast(), Int32(max(0, Double(view.widget.height) - top)))
        // The start margin centers the toast over the conversation.
        let start = view.widget.bounds(in: toasts)?.x ?? 0
        gtk_widget_set_margin_start(toast.cast(), Int32(max(0, start)))
    }
}
