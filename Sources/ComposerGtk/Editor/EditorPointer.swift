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
        let events = LegacyController(.capture)
        events.onEvent { [weak self] event in
            self?.handle(event)
            return false
        }
        textView.addController(events)
    }

    /// Replaces GTK's primary paste, which would count as typing: lists would continue, and delimiters auto-close.
    private func addMiddleButton(_ editor: EditorView) {
        let click = ClickGesture(.middle, phase: .capture)
        click.onPress { [weak editor] event in
            guard let editor, DesktopSettings.middleButtonPastes else { return }
            event.claim()
            editor.pasteSelection(x: event.x, y: event.y)
        }
        editor.textView.addController(click)
    }

    private func handle(_ event: InputEvent) {
        switch event.type {
        case GDK_BUTTON_PRESS, GDK_TOUCH_BEGIN:
            if model.composer.completion?.isVisible ?? false { model.handle(.cancelCompletion) }
            set(isDown: true)
        case GDK_BUTTON_RELEASE, GDK_TOUCH_END, GDK_TOUCH_CANCEL: set(isDown: false)
        case GDK_MOTION_NOTIFY, GDK_ENTER_NOTIFY, GDK_KEY_PRESS:
            // A release over another widget, for example at the end of a drag, is not reported.
            if isDown, event.modifiers.isDisjoint(with: .buttons) { set(isDown: false) }
        default: break
        }
    }

    private func set(isDown: Bool) {
        guard isDown != self.isDown else { return }
        self.isDown = isDown
        model.handle(.holdSelection(isDown))
    }
}
