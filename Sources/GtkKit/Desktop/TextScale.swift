import CGtk

extension Widget {
    /// The scale of the widget's text: the desktop's times the window's.
    public var textScale: Double {
        guard let context = gtk_widget_get_pango_context(cast()),
            let font = pango_context_get_font_description(context),
            let settings = gtk_settings_get_default()
        else { return 1 }
        let name = Object(borrowing: UnsafeMutableRawPointer(settings)).text(ofProperty: "gtk-font-name") ?? ""
        guard let base = pango_font_description_from_string(name) else { return 1 }
        defer { pango_font_description_free(base) }
        // At 96 dpi, the reference for a scale of 1.
        let pixels = Double(pango_font_description_get_size(base)) * 96 / 72
        let displayedSize = Double(pango_font_description_get_size(font))
        guard pixels > 0, displayedSize > 0 else { return 1 }
        return pango_font_description_get_size_is_absolute(font) != 0
            ? displayedSize / pixels : displayedSize * 96 / 72 / pixels
    }
}
