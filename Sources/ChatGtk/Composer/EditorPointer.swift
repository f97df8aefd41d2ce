import CGtk
import ChatViewModels
import Composer
import GtkKit

/// The pointer in the text: a press closes what completes, and what is selected while a button is down counts once it is
/// let go (HKW-22, SLK-61).
final class EditorPointer {
    private let model: any ComposerModel
    private var isDown = false

    init(textView: Widget, model: any ComposerModel) {
        self.model = model
        // Gestures end when the text view takes the sequence over; the events themselves go on.
        let events = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_legacy_new()))
        gtk_event_controller_set_propagation_phase(events.cast(), GTK_PHASE_CAPTURE)
        events.intercept("event") { [weak self] arguments in
            if let self, let event = arguments.pointer(0) { self.take(OpaquePointer(event)) }
            return false
        }
        textView.addController(events)
    }

    private func take(_ event: OpaquePointer) {
        switch gdk_event_get_event_type(event) {
        case GDK_BUTTON_PRESS, GDK_TOUCH_BEGIN:
            if model.composer.completion?.isVisible ?? false { model.handle(.cancelCompletion) }
            set(isDown: true)
        case GDK_BUTTON_RELEASE, GDK_TOUCH_END, GDK_TOUCH_CANCEL: set(isDown: false)
        case GDK_MOTION_NOTIFY, GDK_ENTER_NOTIFY, GDK_KEY_PRESS:
            // What was let go over something else, as at the end of a drag, is not told.
            let buttons = GDK_BUTTON1_MASK.rawValue | GDK_BUTTON2_MASK.rawValue | GDK_BUTTON3_MASK.rawValue
            if isDown, gdk_event_get_modifier_state(event).rawValue & buttons == 0 { set(isDown: false) }
        default: break
        }
    }

    private func set(isDown: Bool) {
        guard isDown != self.isDown else { return }
        self.isDown = isDown
        model.handle(.holdSelection(isDown))
    }
}
