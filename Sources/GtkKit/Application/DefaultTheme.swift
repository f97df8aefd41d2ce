import Glibc

/// Prevents GTK from parsing its default theme, which libadwaita replaces by its own style sheets right afterwards: a
/// tenth of the CPU time in which an empty window appears.
///
/// Only `GTK_THEME` prevents it, which must be absent again before libadwaita starts, as that leaves its style sheets out
/// where it is set, and from child processes. The environment can be changed safely only while the process has a single
/// thread. So a variable with another first letter is added then; writing that letter renames it atomically.
public enum DefaultTheme {
    /// The theme without rules that libadwaita selects.
    static let replacement = "Adwaita-empty"
    private static let (first, hidden) = ("G".utf8CString[0], "g".utf8CString[0])
    /// The variable in the environment; `nil` if there is none to rename.
    private static var entry: UnsafeMutablePointer<CChar>?

    /// Call this while the process has a single thread.
    public static func prepare() {
        entry = nil
        // Keep the user's own setting.
        guard getenv("GTK_THEME") == nil, let entry = strdup("GTK_THEME=\(replacement)") else { return }
        entry.pointee = hidden
        putenv(entry)
        Self.entry = entry
    }

    /// Does what creates GTK's settings, without the default theme if ``prepare()`` has added the variable.
    static func suppressed<R>(_ create: () -> R) -> R {
        entry?.pointee = first
        defer { entry?.pointee = hidden }
        return create()
    }
}
