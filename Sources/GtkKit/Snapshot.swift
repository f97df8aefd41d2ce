public import CGtk

/// What a widget draws into; valid only during the widget's drawing.
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
    }

    public func fill(_ rectangle: Rectangle, _ color: GdkRGBA) {
        var (color, bounds) = (color, rectangle.graphene)
        gtk_snapshot_append_color(pointer, &color, &bounds)
    }

    public func fill(_ rectangle: Rectangle, radius: Double, _ color: GdkRGBA) {
        var bounds = rectangle.graphene
        var outline = GskRoundedRect()
        gsk_rounded_rect_init_from_rect(&outline, &bounds, Float(radius))
        gtk_snapshot_push_rounded_clip(pointer, &outline)
        var color = color
        gtk_snapshot_append_color(pointer, &color, &bounds)
        gtk_snapshot_pop(pointer)
    }

    /// Draws a line along the inside of a rounded rectangle.
    public func stroke(_ rectangle: Rectangle, radius: Double, width: Double = 1, _ color: GdkRGBA) {
        var bounds = rectangle.graphene
        var outline = GskRoundedRect()
        gsk_rounded_rect_init_from_rect(&outline, &bounds, Float(radius))
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

    /// Draws in `body` with the origin moved.
    public func translated(x: Double, y: Double, _ body: () -> Void) {
        gtk_snapshot_save(pointer)
        defer { gtk_snapshot_restore(pointer) }
        var origin = graphene_point_t(x: Float(x), y: Float(y))
        gtk_snapshot_translate(pointer, &origin)
        body()
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
