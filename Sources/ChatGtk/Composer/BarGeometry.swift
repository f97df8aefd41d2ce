import CGtk
import GtkKit

/// Follows where a widget is in its window, and tells only of what has really changed (SLK-59, MIB-7, MCV-11).
///
/// It looks once in a frame whose layout has changed, after all widgets have got their places: so what is told may be
/// answered by another layout in the same frame.
final class BarGeometry {
    /// The widget's top left corner in the window, in pixels.
    var onMove: ((_ x: Double, _ y: Double) -> Void)?
    /// In pixels.
    var onResize: ((_ width: Double, _ height: Double) -> Void)?

    private unowned let bar: WidgetImplementation
    private var layout: SignalConnection?
    private var lastReported: (x: Double, y: Double, width: Double, height: Double)?

    /// - Parameter child: of the bar, mapped and unmapped with it.
    init(of bar: WidgetImplementation, child: Widget) {
        self.bar = bar
        child.connect("map") { [weak self] _ in self?.start() }
        child.connect("unmap") { [weak self] _ in self?.stop() }
    }

    private func start() {
        stop()
        guard let clock = gtk_widget_get_frame_clock(bar.cast()) else { return }
        layout = Object(borrowing: UnsafeMutableRawPointer(clock))
            .connect("layout", after: true) { [weak self] _ in self?.update() }
    }

    /// The clock is the window's, and still there when the widget leaves it.
    private func stop() {
        layout?.disconnect()
        layout = nil
    }

    private func update() {
        guard let root = gtk_widget_get_root(bar.cast()),
            let now = bar.widget.bounds(in: Widget(borrowing: UnsafeMutableRawPointer(root))),
            now.width > 0, now.height > 0
        else { return }
        let before = lastReported
        lastReported = now
        if before?.x != now.x || before?.y != now.y { onMove?(now.x, now.y) }
        if before?.width != now.width || before?.height != now.height { onResize?(now.width, now.height) }
    }
}
