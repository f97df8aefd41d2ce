public import CGtk

extension GdkRGBA {
    /// Parses a color as in CSS: a name, `#rgb` or `rgb(…)`.
    public init?(_ text: String) {
        var color = GdkRGBA()
        guard gdk_rgba_parse(&color, text) != 0 else { return nil }
        self = color
    }
}
