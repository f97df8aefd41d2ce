import CGtk
import GtkKit

/// Tracks a touch across a widget, from wherever it starts, even while a child scrolls with it.
///
/// Uses raw events: in GTK 4.24, a drag gesture receives no more events once a list below it has claimed the touch.
final class KeyboardPan {
    /// Called on each movement with the start and current position, in pixels from the widget's top.
    var onMove: ((_ start: Double, _ y: Double) -> Void)?

    private let touches = LegacyController(.capture)
    private var start: Double?

    init(over widget: Widget) {
        touches.onEvent { [weak self] event in
            self?.handle(event)
            return false
        }
        widget.addController(touches)
    }

    private func handle(_ event: InputEvent) {
        guard event.isFirstTouch else { return }
        switch event.type {
        case GDK_TOUCH_BEGIN: start = position(of: event)
        case GDK_TOUCH_UPDATE:
            if let start, let y = position(of: event) { onMove?(start, y) }
        default: start = nil
        }
    }

    /// Returns the position in pixels from the widget's top.
    private func position(of event: InputEvent) -> Double? {
        touches.widget.flatMap { event.position(in: $0) }?.y
    }
}
