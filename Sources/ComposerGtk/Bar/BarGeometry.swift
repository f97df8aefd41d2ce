import GtkKit

/// Tracks a widget's position and size in its window, and reports actual changes only (SLK-59, MIB-7, MCV-11).
///
/// It checks after the frame clock's layout phase, once all widgets are allocated, so that callbacks may trigger
/// another layout in the same frame.
final class BarGeometry {
    /// Reports changes, in pixels.
    struct Outputs {
        /// The bar's top left corner in window coordinates.
        var moved: (_ x: Double, _ y: Double) -> Void
        var resized: (_ width: Double, _ height: Double) -> Void
    }

    private let child: Widget
    private let outputs: Outputs
    private var layout: SignalConnection?
    private var lastReported: (x: Double, y: Double, width: Double, height: Double)?

    /// - Parameter child: A child of the bar, which is mapped and unmapped together with it.
    init(ofParentOf child: Widget, outputs: Outputs) {
        self.child = child
        self.outputs = outputs
        child.onMap { [weak self] _ in self?.start() }
        child.onUnmap { [weak self] _ in self?.stop() }
    }

    private func start() {
        stop()
        layout = child.afterFrameLayout { [weak self] in self?.update() }
    }

    /// Disconnects explicitly: the clock belongs to the window, which may outlive the widget.
    private func stop() {
        layout?.disconnect()
        layout = nil
    }

    private func update() {
        guard let bar = child.parent, let root = bar.root, let now = bar.bounds(in: root), now.width > 0,
            now.height > 0
        else { return }
        let before = lastReported
        lastReported = now
        if before?.x != now.x || before?.y != now.y { outputs.moved(now.x, now.y) }
        if before?.width != now.width || before?.height != now.height { outputs.resized(now.width, now.height) }
    }
}
