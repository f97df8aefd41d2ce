import CGtk
import Glibc
import GtkKit

/// A picture that is made larger and smaller and moved about, by wheel, pinch, drag and double click.
final class ZoomableImage: WidgetImplementation {
    override class var typeName: String { "ParlanceZoomPicture" }
    override class var cssName: String { "zoompicture" }
    override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_IMG }

    /// The largest scale, in logical pixels for one of the picture.
    static let maxScale = 16.0
    private static let step = 1.25

    private var paintable: Object?
    /// In pixels.
    private var size = (width: 1.0, height: 1.0)
    /// Nil while the picture fits the widget.
    private var chosen: Double?
    /// Where the picture's middle is, from the widget's, in logical pixels.
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
    ///   - width: of the picture itself in pixels, whatever the paintable's.
    ///   - keepsPosition: the same picture, sharper or a frame later.
    func show(_ paintable: Object?, width: Int, height: Int, keepsPosition: Bool) {
        self.paintable = paintable
        size = (Double(max(1, width)), Double(max(1, height)))
        if keepsPosition { move(to: shift) } else { fit() }
        gtk_widget_queue_draw(cast())
    }

    // MARK: Scale

    /// Logical pixels for one of the picture.
    var scale: Double { chosen ?? fittingScale }

    /// Small pictures are not blown up.
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

    /// A pixel for a pixel.
    func showActualSize() { setScale(1 / Double(max(1, gtk_widget_get_scale_factor(cast())))) }

    func zoomIn() { setScale(scale * Self.step) }
    func zoomOut() { setScale(scale / Self.step) }

    /// - Parameter point: what stays where it is, from the widget's middle.
    func setScale(_ requestedScale: Double, around point: (x: Double, y: Double) = (0, 0)) {
        let old = scale
        let minScale = min(fittingScale, 1)
        let new = min(max(requestedScale, minScale), Self.maxScale)
        chosen = new <= minScale * 1.0001 && minScale == fittingScale ? nil : new
        let factor = new / old
        move(to: (point.x + (shift.x - point.x) * factor, point.y + (shift.y - point.y) * factor))
    }

    /// Moves the picture, but no further than its edge.
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
