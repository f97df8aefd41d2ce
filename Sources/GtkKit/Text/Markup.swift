import CGtk

/// Pango markup.
public enum Markup {
    /// Escapes a text, so that it is shown verbatim where markup is expected.
    public static func escaped(_ text: String) -> String {
        guard let escaped = g_markup_escape_text(text, -1) else { return "" }
        defer { g_free(escaped) }
        return String(cString: escaped)
    }
}
