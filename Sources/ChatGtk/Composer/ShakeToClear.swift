import CGtk
import ChatViewModels
import Composer
import GtkKit

/// Clears the composer when the pointer is shaken over it, if the user has enabled that (SLK-43).
public final class ShakeToClear {
    /// The user's setting, for all composers.
    public static var isEnabled = false

    private var detector = ShakeDetector()

    init(over area: Widget, _ clear: @escaping @MainActor () -> Void) {
        let motion = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_motion_new()))
        motion.connect("motion") { [weak self] arguments in
            guard Self.isEnabled, let self, let pointer = arguments.emitter else { return }
            let controller = Object(borrowing: pointer)
            let time = gtk_event_controller_get_current_event_time(controller.cast())
            if self.detector.moved(to: arguments.double(0), at: .milliseconds(Int64(time))) { clear() }
        }
        motion.connect("leave") { [weak self] _ in self?.detector.reset() }
        area.addController(motion)
    }
}
