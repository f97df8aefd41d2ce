public import CGtk

/// The formatting that a tag sets; `nil` where it leaves that to tags of lower priority.
extension TextTag {
    public var foreground: GdkRGBA? {
        property("foreground", "foreground-rgba", gdk_rgba_get_type()) { value in
            g_value_get_boxed(value).map { $0.assumingMemoryBound(to: GdkRGBA.self).pointee }
        }
    }

    public var isBold: Bool? {
        property("weight", "weight", shim_type_int()) { g_value_get_int($0) >= gint(PANGO_WEIGHT_SEMIBOLD.rawValue) }
    }

    public var isItalic: Bool? {
        property("style", "style", pango_style_get_type()) { g_value_get_enum($0) != gint(PANGO_STYLE_NORMAL.rawValue) }
    }

    private func property<R>(
        _ aspect: String, _ name: String, _ type: GType, _ read: (UnsafePointer<GValue>) -> R?
    ) -> R? {
        guard isOn("\(aspect)-set") else { return nil }
        var value = GValue()
        g_value_init(&value, type)
        defer { g_value_unset(&value) }
        g_object_get_property(cast(), name, &value)
        return read(&value)
    }
}

extension TextIterator {
    /// The tags at this position, in order of priority.
    public var tags: [TextTag] {
        let list = withUnsafePointer(to: iterator) { gtk_text_iter_get_tags($0) }
        defer { g_slist_free(list) }
        return sequence(first: list, next: { $0?.pointee.next }).prefix { $0 != nil }.compactMap { link in
            link?.pointee.data.map { TextTag(borrowing: $0) }
        }
    }

    /// Moves to the next place where a tag begins or ends.
    /// - Returns: `false` if there is none before the end of the text.
    public mutating func moveToTagToggle() -> Bool { gtk_text_iter_forward_to_tag_toggle(&iterator, nil) != 0 }
}

extension TextBuffer {
    /// Passes the start and the end of the text to C functions.
    public func withBounds<R>(
        _ body: (UnsafeMutablePointer<GtkTextIter>, UnsafeMutablePointer<GtkTextIter>) -> R
    ) -> R {
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(cast(), &start, &end)
        return body(&start, &end)
    }
}
