import Composer
import GtkKit

/// Reports when the pointer is shaken over a widget (SLK-43).
final class ShakeGesture {
    private var detector = ShakeDetector()

    init(over area: Widget, _ onShake: @escaping @MainActor () -> Void) {
        let motion = MotionController()
        motion.onMove { [weak self] event in
            guard let self else { return }
            if self.detector.moved(to: event.x, at: .milliseconds(Int64(event.time))) { onShake() }
        }
        motion.onLeave { [weak self] in self?.detector.reset() }
        area.addController(motion)
    }
}
