import ChatViewModels
import GtkKit

/// Shows toasts above the composer, so that they do not cover the text being written.
final class ToastPresenter {
    private let overlay: ToastOverlay
    private var toastsObserver: ChildObserver?
    private let conversation: @MainActor () -> ConversationView?

    /// - Parameter conversation: returns the conversation that is visible, if any.
    init(overlay: ToastOverlay, conversation: @escaping @MainActor () -> ConversationView?) {
        self.overlay = overlay
        self.conversation = conversation
        toastsObserver = ChildObserver(overlay) { [weak self] in self?.position() }
    }

    /// - Parameter undo: undoes what the toast reports, if it can be undone.
    func show(_ content: WindowRequests.Toast, undo: @escaping @MainActor () -> Void = {}) {
        let texts = ToastText(.desktop)
        guard let text = texts.text(for: content) else { return }
        let toast = Toast(text)
        if let button = texts.button(of: content) { toast.setButton(button, undo) }
        overlay.add(toast)
    }

    private func position() {
        guard let view = conversation(), let top = view.composerTop else { return }
        for toast in overlay.toasts {
            toast.marginBottom = Int(max(0, Double(view.widget.height) - top))
            // The start margin centers the toast over the conversation.
            let start = view.widget.bounds(in: overlay)?.x ?? 0
            toast.marginStart = Int(max(0, start))
        }
    }
}
