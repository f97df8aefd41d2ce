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

    required init(instance: WidgetInstance) {
        super.init(instance: instance)
        hexpand = true
        vexpand = true
        overflow = .hidden
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
        queueDraw()
    }

    // MARK: Scale

    /// Logical pixels per image pixel.
    var scale: Double { chosen ?? fittingScale }

    /// The scale at which the image fits the widget. Small images are not enlarged.
    private var fittingScale: Double {
        let (width, height) = (Double(self.width), Double(self.height))
        guard width > 0, height > 0 else { return 1 }
        return min(1 / Double(scaleFactor), width / size.width, height / size.height)
    }

    var isFitting: Bool { chosen == nil }

    func fit() {
        chosen = nil
        shift = (0, 0)
        queueDraw()
    }

    /// Shows one image pixel per device pixel.
    func showActualSize() { setScale(1 / Double(scaleFactor)) }

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
        func clamped(_ value: Double, _ length: Double, _ room: Int) -> Double {
            let limit = max(0, (length * scale - Double(room)) / 2)
            return min(max(value, -limit), limit)
        }
        shift = (clamped(offset.x, size.width, width), clamped(offset.y, size.height, height))
        queueDraw()
    }

    // MARK: Input

    private func addPointer() {
        let motion = MotionController()
        motion.onMove { [weak self] in self?.hover = ($0.x, $0.y) }
        motion.onLeave { [weak self] in self?.hover = nil }
        addController(motion)
        let wheel = ScrollController(.vertical)
        wheel.onScroll { [weak self] event in
            guard let self else { return false }
            setScale(scale * Glibc.pow(Self.step, -event.y), around: fromMiddle(hover))
            return true
        }
        addController(wheel)
        let click = ClickGesture()
        click.onPress { [weak self] event in
            guard let self, event.count == 2 else { return }
            if isFitting {
                setScale(max(1, fittingScale * 2), around: fromMiddle((event.x, event.y)))
            } else {
                fit()
            }
        }
        addController(click)
    }

    private func addGestures() {
        let drag = DragGesture()
        drag.onDragBegin { [weak self] _ in self?.rememberStart() }
        drag.onDragUpdate { [weak self] distance in
            guard let self else { return }
            move(to: (gestureStart.shift.x + distance.x, gestureStart.shift.y + distance.y))
        }
        addController(drag)
        let pinch = ZoomGesture()
        pinch.onBegin { [weak self] in self?.rememberStart() }
        pinch.onScaleChange { [weak self] factor in
            guard let self else { return }
            setScale(gestureStart.scale * factor)
        }
        addController(pinch)
    }

    private func rememberStart() { gestureStart = (scale, shift) }

    private func fromMiddle(_ point: (x: Double, y: Double)?) -> (x: Double, y: Double) {
        guard let point else { return (0, 0) }
        return (point.x - Double(width) / 2, point.y - Double(height) / 2)
    }

    // MARK: Drawing

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        SizeRequest(minimum: 120, natural: 480)
    }

    override func allocate(width: Int, height: Int) { move(to: shift) }

    override func snapshot(_ snapshot: Snapshot) {
        guard let paintable else { return }
        let (imageWidth, imageHeight) = (size.width * scale, size.height * scale)
        snapshot.translated(
            x: ((Double(width) - imageWidth) / 2 + shift.x).rounded(),
            y: ((Double(height) - imageHeight) / 2 + shift.y).rounded()
        ) { snapshot.draw(paintable, width: imageWidth, height: imageHeight) }
    }

    override func dispose() {
        paintable = nil
        super.dispose()
    }
}
