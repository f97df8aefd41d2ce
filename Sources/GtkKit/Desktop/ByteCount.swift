import CGtk

/// Formats file sizes as the desktop does.
public enum ByteCount {
    /// Returns, for example, `1.2 MB`.
    public static func text(_ bytes: Int) -> String {
        guard let text = g_format_size(guint64(max(0, bytes))) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
