import GtkKit

/// Announces a dialog's pages, of which screen readers otherwise read only what has the focus.
final class PageAnnouncements {
    private let announcer = Announcer()
    private var text = ""
    private var isOnScreen = false

    /// The last announced text.
    var announced: String { announcer.text }

    init(in overlay: Overlay) {
        overlay.addOverlay(announcer.region)
    }

    /// Announces the page displayed. Call this once the dialog is presented.
    func start() {
        // Before its first frame, the dialog is not known to screen readers.
        announcer.region.afterNextFrame { [weak self] in
            guard let self else { return }
            isOnScreen = true
            announcer.post(text)
        }
    }

    func show(_ text: String) {
        self.text = text
        if isOnScreen { announcer.post(text) }
    }
}
