public import CGtk

/// What a widget draws into; valid only while the widget draws.
public struct Snapshot {
    let pointer: OpaquePointer

    /// A rectangle in pixels.
    public struct Rectangle: Equatable {
        public var x, y, width, height: Double

        public init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }

        var graphene: graphene_rect_t {
            graphene_rect_t(
                origin: graphene_point_t(x: Float(x), y: Float(y)),
                size: graphene_size_t(width: Float(width), height: Float(height)))
        }

        func rounded(_ radius: Double) -> GskRoundedRect {
            var (outline, bounds) = (GskRoundedRect(), graphene)
            gsk_rounded_rect_init_from_rect(&outline, &bounds, Float(radius))
            return outline
        }
    }

    public func fill(_ rectangle: Rectangle, _ color: GdkRGBA) {
        var (color, bounds) = (color, rectangle.graphene)
        gtk_snapshot_append_color(pointer, &color, &bounds)
    }

    public func fill(_ rectangle: Rectangle, radius: Double, _ color: GdkRGBA) {
        clipped(to: rectangle, radius: radius) { fill(rectangle, color) }
    }

    /// Draws a line along the inside of a rounded rectangle.
    public func stroke(_ rectangle: Rectangle, radius: Double, width: Double = 1, _ color: GdkRGBA) {
        var outline = rectangle.rounded(radius)
        var widths = (Float(width), Float(width), Float(width), Float(width))
        var colors = (color, color, color, color)
        withUnsafePointer(to: &widths) { widths in
            withUnsafePointer(to: &colors) { colors in
                gtk_snapshot_append_border(
                    pointer, &outline, UnsafeRawPointer(widths).assumingMemoryBound(to: Float.self),
                    UnsafeRawPointer(colors).assumingMemoryBound(to: GdkRGBA.self))
            }
        }
    }

    /// Runs `body` with the origin moved.
    public func translated(x: Double, y: Double, _ body: () -> Void) {
        gtk_snapshot_save(pointer)
        defer { gtk_snapshot_restore(pointer) }
        var origin = graphene_point_t(x: Float(x), y: Float(y))
        gtk_snapshot_translate(pointer, &origin)
        body()
    }

    /// Draws in `body` what is inside of a rounded rectangle.
    func clipped(to rectangle: Rectangle, radius: Double, _ body: () -> Void) {
        var outline = rectangle.rounded(radius)
        gtk_snapshot_push_rounded_clip(pointer, &outline)
        body()
        gtk_snapshot_pop(pointer)
    }

    /// Draws a black shadow below a rounded rectangle, which fades over `reach` pixels.
    ///
    /// Not a shadow node: cairo does not scale the blur of one.
    func shadow(of rectangle: Rectangle, radius: Double, y: Double, reach: Double, opacity: Double) {
        let layers = 24
        for layer in 1...layers {
            // Denser close to the rectangle, so that it fades out gently.
            let part = Double(layer) / Double(layers)
            let spread = reach * part * part
            let grown = Rectangle(
                x: rectangle.x - spread, y: rectangle.y - spread + y, width: rectangle.width + 2 * spread,
                height: rectangle.height + 2 * spread)
            fill(
                grown, radius: radius + spread,
                GdkRGBA(red: 0, green: 0, blue: 0, alpha: Float(opacity / Double(layers))))
        }
    }

    /// Draws a widget with the origin of its content at the origin; its border and padding are before it.
    func draw(_ widget: Widget) {
        guard let bounds = widget.drawnBounds, let paintable = gtk_widget_paintable_new(widget.cast()) else { return }
        let owned = Object(owning: UnsafeMutableRawPointer(paintable))
        translated(x: bounds.x, y: bounds.y) { draw(owned, width: bounds.width, height: bounds.height) }
    }

    /// Draws a GdkPaintable at the origin.
    public func draw(_ paintable: Object, width: Double, height: Double) {
        gdk_paintable_snapshot(paintable.cast(), pointer, width, height)
    }

    /// Draws a PangoLayout at the origin, in the color of the widget's text.
    public func draw(layout: Object, of widget: some WidgetProtocol) {
        shim_append_layout(UnsafeMutableRawPointer(pointer), widget.gtk, layout.pointer)
    }

    /// Draws a child of a custom widget.
    public func draw(_ child: Widget, of parent: some WidgetProtocol) {
        gtk_widget_snapshot_child(parent.gtk, child.gtk, pointer)
    }
}

extension Widget {
    /// What the widget draws itself on, with its border and padding, in its own coordinates.
    var drawnBounds: Snapshot.Rectangle? {
        var bounds = graphene_rect_t()
        guard gtk_widget_compute_bounds(cast(), cast(), &bounds) != 0 else { return nil }
        return Snapshot.Rectangle(
            x: Double(bounds.origin.x), y: Double(bounds.origin.y), width: Double(bounds.size.width),
            height: Double(bounds.size.height))
    }
}
