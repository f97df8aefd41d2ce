import CGtk
import Glibc
import GtkKit

/// An image that can be zoomed and panned with wheel, pinch, drag and double click.
final class ZoomableImage: WidgetImplementation {
    override class var typeName: String { "ParlanceZoomPicture" }
    override class var cssName: String { "zoompicture" }
    override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_IMG }

    /// The maximum scale, in logical pixels per image pixel.
    static let maxScale = 16.0
    private static let step = 1.25

    private var paintable: Object?
    /// The image's size, in pixels.
    private var size = (width: 1.0, height: 1.0)
    /// The scale chosen by the user, or `nil` while the image fits the widget.
    private var chosen: Double?
    /// The offset of the image's center from the widget's center, in logical pixels.
    private(set) var shift = (x: 0.0, y: 0.0)
    private var hover: (x: Double, y: Double)?
    private var gestureStart = (scale: 1.0, shift: (x: 0.0, y: 0.0))

    required init(pointer: UnsafeMutableRawPointer) {
        super.init(pointer: pointer)
        gtk_widget_set_hexpand(cast(), 1)
        gtk_widget_set_vexpand(cast(), 1)
        gtk_widget_set_overflow(cast(), GTK_OVERFLOW_HIDDEN)
        addPointer()
        addGestures()
    }

    /// - Parameters:
    ///   - width: The image's own width in pixels, which the paintable's may differ from.
    ///   - height: The image's own height in pixels.
    ///   - keepsPosition: Whether to keep scale and offset, for a sharper version or the next frame of the same image.
    func show(_ paintable: Object?, width: Int, height: Int, keepsPosition: Bool) {
        self.paintable = paintable
        size = (Double(max(1, width)), Double(max(1, height)))
        if keepsPosition { move(to: shift) } else { fit() }
        gtk_widget_queue_draw(cast())
    }

    // MARK: Scale

    /// Logical pixels per image pixel.
    var scale: Double { chosen ?? fittingScale }

    /// The scale at which the image fits the widget. Small images are not enlarged.
    private var fittingScale: Double {
        let (width, height) = (Double(gtk_widget_get_width(cast())), Double(gtk_widget_get_height(cast())))
        guard width > 0, height > 0 else { return 1 }
        return min(1 / Double(max(1, gtk_widget_get_scale_factor(cast()))), width / size.width, height / size.height)
    }

    var isFitting: Bool { chosen == nil }

    func fit() {
        chosen = nil
        shift = (0, 0)
        gtk_widget_queue_draw(cast())
    }

    /// Shows one image pixel per device pixel.
    func showActualSize() { setScale(1 / Double(max(1, gtk_widget_get_scale_factor(cast())))) }

    func zoomIn() { setScale(scale * Self.step) }
    func zoomOut() { setScale(scale / Self.step) }

    /// - Parameter point: The fixed point of the zoom, relative to the widget's center.
    func setScale(_ requestedScale: Double, around point: (x: Double, y: Double) = (0, 0)) {
        let old = scale
        let minScale = min(fittingScale, 1)
        let new = min(max(requestedScale, minScale), Self.maxScale)
        chosen = new <= minScale * 1.0001 && minScale == fittingScale ? nil : new
        let factor = new / old
        move(to: (point.x + (shift.x - point.x) * factor, point.y + (shift.y - point.y) * factor))
    }

    /// Pans the image, but no farther than its edges.
    func move(to offset: (x: Double, y: Double)) {
        func clamped(_ value: Double, _ length: Double, _ room: gint) -> Double {
            let limit = max(0, (length * scale - Double(room)) / 2)
            return min(max(value, -limit), limit)
        }
        shift = (
            clamped(offset.x, size.width, gtk_widget_get_width(cast())),
            clamped(offset.y, size.height, gtk_widget_get_height(cast()))
        )
        gtk_widget_queue_draw(cast())
    }

    // MARK: Input

    private func addPointer() {
        let motion = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_motion_new()))
        motion.connect("motion") { [weak self] in self?.hover = ($0.double(0), $0.double(1)) }
        motion.connect("leave") { [weak self] _ in self?.hover = nil }
        widget.addController(motion)
        let wheel = Object(
            owning: UnsafeMutableRawPointer(gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL)))
        wheel.intercept("scroll") { [weak self] arguments in
            guard let self else { return false }
            setScale(scale * Glibc.pow(Self.step, -arguments.double(1)), around: fromMiddle(hover))
            return true
        }
        widget.addController(wheel)
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        click.connect("pressed") { [weak self] arguments in
            guard let self, arguments.int(0) == 2 else { return }
            if isFitting {
                setScale(max(1, fittingScale * 2), around: fromMiddle((arguments.double(1), arguments.double(2))))
            } else {
                fit()
            }
        }
        widget.addController(click)
    }

    private func addGestures() {
        let drag = Object(owning: UnsafeMutableRawPointer(gtk_gesture_drag_new()))
        drag.connect("drag-begin") { [weak self] _ in self?.rememberStart() }
        drag.connect("drag-update") { [weak self] arguments in
            guard let self else { return }
            move(to: (gestureStart.shift.x + arguments.double(0), gestureStart.shift.y + arguments.double(1)))
        }
        widget.addController(drag)
        let pinch = Object(owning: UnsafeMutableRawPointer(gtk_gesture_zoom_new()))
        pinch.connect("begin") { [weak self] _ in self?.rememberStart() }
        pinch.connect("scale-changed") { [weak self] arguments in
            guard let self else { return }
            setScale(gestureStart.scale * arguments.double(0))
        }
        widget.addController(pinch)
    }

    private func rememberStart() { gestureStart = (scale, shift) }

    private func fromMiddle(_ point: (x: Double, y: Double)?) -> (x: Double, y: Double) {
        guard let point else { return (0, 0) }
        return (
            point.x - Double(gtk_widget_get_width(cast())) / 2, point.y - Double(gtk_widget_get_height(cast())) / 2
        )
    }

    // MARK: Drawing

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        SizeRequest(minimum: 120, natural: 480)
    }

    override func allocate(width: Int, height: Int) { move(to: shift) }

    override func snapshot(_ snapshot: OpaquePointer) {
        guard let paintable else { return }
        let (width, height) = (size.width * scale, size.height * scale)
        var origin = graphene_point_t(
            x: Float(((Double(gtk_widget_get_width(cast())) - width) / 2 + shift.x).rounded()),
            y: Float(((Double(gtk_widget_get_height(cast())) - height) / 2 + shift.y).rounded()))
        gtk_snapshot_save(snapshot)
        gtk_snapshot_translate(snapshot, &origin)
        gdk_paintable_snapshot(paintable.cast(), snapshot, width, height)
        gtk_snapshot_restore(snapshot)
    }

    override func dispose() {
        paintable = nil
        super.dispose()
    }
}
