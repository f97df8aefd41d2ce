import CGtk

extension Widget {
    /// Renders the widget to a PNG file, in the display's resolution. The widget must be realized, for example in a
    /// shown window.
    /// - Returns: `false` if there is nothing to draw yet or the file cannot be written.
    public final func savePNG(to path: String) -> Bool {
        guard width > 0, height > 0, let bounds = drawnBounds else { return false }
        return save(path, width: bounds.width, height: bounds.height) { snapshot in
            snapshot.translated(x: -bounds.x, y: -bounds.y) { snapshot.draw(self) }
        }
    }

    /// Renders a window as a compositor shows it: with rounded corners, its open popovers, and a shadow in the margin
    /// around it. Without a compositor, GTK gives windows a frame and square corners instead, which are omitted.
    /// - Returns: `false` if there is nothing to draw yet or the file cannot be written.
    public final func saveWindowPNG(to path: String, margin: Double = 36) -> Bool {
        guard let content = gtk_window_get_child(cast()) else { return false }
        var bounds = graphene_rect_t()
        guard gtk_widget_compute_bounds(content, cast(), &bounds) != 0, bounds.size.width > 0 else { return false }
        let window = Snapshot.Rectangle(
            x: margin, y: margin, width: Double(bounds.size.width), height: Double(bounds.size.height))
        let origin = (x: margin - Double(bounds.origin.x), y: margin - Double(bounds.origin.y))
        return save(path, width: window.width + 2 * margin, height: window.height + 2 * margin) { snapshot in
            snapshot.shadow(of: window, radius: Self.windowRadius, y: 6, reach: 28, opacity: 0.28)
            snapshot.shadow(of: window, radius: Self.windowRadius, y: 0, reach: 1, opacity: 0.22)
            snapshot.clipped(to: window, radius: Self.windowRadius) {
                snapshot.translated(x: origin.x, y: origin.y) { snapshot.draw(self) }
            }
            for popover in openPopovers {
                let place = popover.positionInParentSurface - surfaceOffset
                snapshot.translated(x: origin.x + Double(place.x), y: origin.y + Double(place.y)) {
                    snapshot.draw(popover)
                }
            }
        }
    }

    /// Of a libadwaita window.
    private static var windowRadius: Double { 12 }

    private func save(_ path: String, width: Double, height: Double, _ draw: (Snapshot) -> Void) -> Bool {
        let scale = Double(scaleFactor)
        // Cairo puts glyphs at whole pixels, which closes the spaces between words. Twice as many pixels keep them.
        let fine = 2 * scale
        guard let texture = render(width: width, height: height, scale: fine, draw),
            let result = render(
                width: width, height: height, scale: scale,
                { $0.draw(texture, width: width, height: height) })
        else { return false }
        return result.withPointer { (texture: OpaquePointer) in gdk_texture_save_to_png(texture, path) != 0 }
    }

    /// Returns a GdkTexture.
    private func render(width: Double, height: Double, scale: Double, _ draw: (Snapshot) -> Void) -> Object? {
        guard let native = gtk_widget_get_native(cast()), let renderer = gtk_native_get_renderer(native),
            let pointer = gtk_snapshot_new()
        else { return nil }
        gtk_snapshot_scale(pointer, Float(scale), Float(scale))
        draw(Snapshot(pointer: pointer))
        guard let node = gtk_snapshot_free_to_node(pointer) else { return nil }
        defer { gsk_render_node_unref(node) }
        var viewport = Snapshot.Rectangle(x: 0, y: 0, width: width * scale, height: height * scale).graphene
        guard let texture = gsk_renderer_render_texture(renderer, node, &viewport) else { return nil }
        return Object(owning: UnsafeMutableRawPointer(texture))
    }

    // MARK: Popovers

    /// The popovers on the screen that belong to descendants.
    private var openPopovers: [Widget] {
        children.flatMap { child -> [Widget] in
            guard child.isMapped else { return [] }
            return (child.isInstance(of: gtk_popover_get_type()) ? [child] : []) + child.openPopovers
        }
    }

    private var positionInParentSurface: graphene_point_t {
        guard let surface = gtk_native_get_surface(cast()) else { return graphene_point_t() }
        return graphene_point_t(
            x: Float(gdk_popup_get_position_x(surface)), y: Float(gdk_popup_get_position_y(surface)))
            + surfaceOffset
    }

    /// Where the widget of a window or popover is in its surface.
    private var surfaceOffset: graphene_point_t {
        var (x, y) = (0.0, 0.0)
        gtk_native_get_surface_transform(cast(), &x, &y)
        return graphene_point_t(x: Float(x), y: Float(y))
    }
}

extension graphene_point_t {
    fileprivate static func + (left: Self, right: Self) -> Self { Self(x: left.x + right.x, y: left.y + right.y) }
    fileprivate static func - (left: Self, right: Self) -> Self { Self(x: left.x - right.x, y: left.y - right.y) }
}

/// How text is drawn on the default display.
public enum TextRendering {
    /// Draws glyphs as designed, at positions that pixels do not round, and a caret that does not blink: for images that
    /// are the same on every machine.
    public static func useDesignedShapes() {
        guard let pointer = gtk_settings_get_default() else { return }
        let settings = Object(borrowing: UnsafeMutableRawPointer(pointer))
        settings.setProperty("gtk-hint-font-metrics", false)
        settings.setProperty("gtk-xft-antialias", 1)
        settings.setProperty("gtk-xft-hinting", 0)
        settings.setProperty("gtk-xft-hintstyle", "hintnone")
        settings.setProperty("gtk-xft-rgba", "none")
        CaretBlinking.stop()
    }
}
