import CGtk
import Composer
import ComposerSessions
import GtkKit

/// Pointer input in the text: a press cancels completion, a selection takes effect when the button is released (HKW-22,
/// SLK-61), and the middle button pastes the primary selection.
final class EditorPointer {
    private let model: any ComposerModel
    private var isDown = false

    init(editor: EditorView, model: any ComposerModel) {
        self.model = model
        let textView = editor.textView
        addMiddleButton(editor)
        // A legacy controller: gestures end when the text view claims the event sequence.
        let events = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_legacy_new()))
        gtk_event_controller_set_propagation_phase(events.cast(), GTK_PHASE_CAPTURE)
        events.intercept("event") { [weak self] arguments in
            if let self, let event = arguments.pointer(0) { self.handle(OpaquePointer(event)) }
            return false
        }
        textView.addController(events)
    }

    /// Replaces GTK's primary paste, which would count as typing: lists would continue, and delimiters auto-close.
    private func addMiddleButton(_ editor: EditorView) {
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        gtk_gesture_single_set_button(click.cast(), guint(GDK_BUTTON_MIDDLE))
        gtk_event_controller_set_propagation_phase(click.cast(), GTK_PHASE_CAPTURE)
        click.connect("pressed") { [weak editor] arguments in
            guard let editor, let gesture = arguments.emitter, Self.middleButtonPastes(editor.textView) else { return }
            gtk_gesture_set_state(OpaquePointer(gesture), GTK_EVENT_SEQUENCE_CLAIMED)
            editor.pasteSelection(x: arguments.double(1), y: arguments.double(2))
        }
        editor.textView.addController(click)
    }

    private static func middleButtonPastes(_ widget: Widget) -> Bool {
        guard let settings = gtk_widget_get_settings(widget.cast()) else { return true }
        return Object(borrowing: UnsafeMutableRawPointer(settings)).isOn("gtk-enable-primary-paste")
    }

    private func handle(_ event: OpaquePointer) {
        switch gdk_event_get_event_type(event) {
        case GDK_BUTTON_PRESS, GDK_TOUCH_BEGIN:
            if model.composer.completion?.isVisible ?? false { model.handle(.cancelCompletion) }
            set(isDown: true)
        case GDK_BUTTON_RELEASE, GDK_TOUCH_END, GDK_TOUCH_CANCEL: set(isDown: false)
        case GDK_MOTION_NOTIFY, GDK_ENTER_NOTIFY, GDK_KEY_PRESS:
            // A release over another widget, for example at the end of a drag, is not reported.
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
