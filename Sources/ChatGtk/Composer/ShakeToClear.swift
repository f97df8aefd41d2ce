import ChatViewModels
import Composer
import GtkKit

/// Clears the composer when the pointer is shaken over it, if the user has enabled that (SLK-43).
public final class ShakeToClear {
    /// The user's setting, for all composers.
    public static var isEnabled = false

    private var detector = ShakeDetector()

    init(over area: Widget, _ clear: @escaping @MainActor () -> Void) {
        let motion = MotionController()
        motion.onMove { [weak self] event in
            guard Self.isEnabled, let self else { return }
            if self.detector.moved(to: event.x, at: .milliseconds(Int64(event.time))) { clear() }
        }
        motion.onLeave { [weak self] in self?.detector.reset() }
        area.addController(motion)
    }
}
