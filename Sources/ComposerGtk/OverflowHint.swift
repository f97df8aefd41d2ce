import CGtk
import GtkKit

/// Briefly shows a scrollbar when the text starts to overflow (SLK-70).
///
/// GTK's overlay scrollbar only appears on pointer or wheel input. This one appears in its place, accepts no input, and
/// is rearmed when everything fits again.
final class OverflowHint {
    private static let duration = Duration.milliseconds(1500)
    private static let rearmDelay = Duration.milliseconds(250)

    private let revealer: Revealer
    private var timeout: Timeout?
    private var rearming: Timeout?
    private var overflows = false

    /// - Parameter overlay: The GtkOverlay around the scrolled text.
    init(overlay: Widget, scroller: ScrolledWindow) {
        revealer = Revealer(sinking: gtk_revealer_new())
        let adjustment = gtk_scrolled_window_get_vadjustment(scroller.cast())
        let bar = Widget(sinking: gtk_scrollbar_new(GTK_ORIENTATION_VERTICAL, adjustment))
        bar.addStyle("overlay-indicator")
        gtk_revealer_set_child(revealer.cast(), bar.cast())
        gtk_revealer_set_transition_type(revealer.cast(), GTK_REVEALER_TRANSITION_TYPE_CROSSFADE)
        gtk_widget_set_halign(revealer.cast(), GTK_ALIGN_END)
        gtk_widget_set_can_target(revealer.cast(), 0)
        shim_accessible_hidden(bar.pointer)
        revealer.addStyle("overflow-hint")
        gtk_overlay_add_overlay(overlay.cast(), revealer.cast())
    }

    isolated deinit {
        guard let overlay = gtk_widget_get_parent(revealer.cast()) else { return }
        gtk_overlay_remove_overlay(OpaquePointer(overlay), revealer.cast())
    }

    /// - Parameter overflows: Whether there are more lines than the field shows.
    func update(overflows: Bool) {
        rearming = nil
        guard overflows != self.overflows else { return }
        guard overflows else {
            // Replacing the text leaves it empty for a few frames: do not rearm for that.
            rearming = Timeout(after: Self.rearmDelay) { [weak self] in self?.rearm() }
            return
        }
        self.overflows = true
        revealer.isRevealed = true
        timeout = Timeout(after: Self.duration) { [weak self] in self?.revealer.isRevealed = false }
    }

    private func rearm() {
        overflows = false
        revealer.isRevealed = false
        timeout = nil
    }
}
