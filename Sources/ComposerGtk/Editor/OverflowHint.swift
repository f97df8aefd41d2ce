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

    /// - Parameter overlay: The overlay around the scrolled text.
    init(overlay: Overlay, scroller: ScrolledWindow) {
        revealer = Revealer(.crossfade)
        let bar = Scrollbar(.vertical, of: scroller.verticalAdjustment)
        bar.addStyle("overlay-indicator")
        revealer.setChild(bar)
        revealer.halign = .end
        revealer.canTarget = false
        bar.hideFromAccessibility()
        revealer.addStyle("overflow-hint")
        overlay.addOverlay(revealer)
    }

    isolated deinit {
        revealer.parent?.asOverlay?.removeOverlay(revealer)
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
