import CGtk

extension Widget {
    /// Renders the widget to a PNG file. The widget must be realized, for example in a shown window.
    /// - Returns: `false` if there is nothing to draw yet or the file cannot be written.
    public final func savePNG(to path: String) -> Bool {
        guard width > 0, height > 0, let native = gtk_widget_get_native(cast()),
            let renderer = gtk_native_get_renderer(native), let paintable = gtk_widget_paintable_new(cast())
        else { return false }
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        guard let snapshot = gtk_snapshot_new() else { return false }
        gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
        guard let node = gtk_snapshot_free_to_node(snapshot) else { return false }
        defer { gsk_render_node_unref(node) }
        guard let texture = gsk_renderer_render_texture(renderer, node, nil) else { return false }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        return gdk_texture_save_to_png(texture, path) != 0
    }
}
