import CGtk
import Glibc

/// Prevents GDK from probing for GL if `GSK_RENDERER=cairo` means that nothing uses it. Without a graphics card, the
/// probe alone loads a driver that contains a compiler: 30 MB and a quarter of the startup time.
///
/// GDK can be told so only by an environment variable, which must not stay set: a browser that a link opens would have
/// no GL either. The environment can be changed safely only while the process has a single thread, and GTK starts
/// later. So an empty variable is added first, with its later value in memory behind the terminating zero. Writing one
/// byte sets or unsets the value atomically. Child processes inherit an empty variable.
public enum GLProbe {
    private static var value: UnsafeMutablePointer<CChar>?
    private static var first: CChar = 0

    /// Call this while the process has a single thread.
    public static func prepare() {
        guard getenv("GSK_RENDERER").map({ String(cString: $0) }) == "cairo" else { return }
        let (name, text) = gtk_get_minor_version() < 16 ? ("GDK_DEBUG", "gl-disable") : ("GDK_DISABLE", "gl")
        // Keep the user's own setting. An empty one may be of the process before a restart.
        guard getenv(name).map({ $0.pointee == 0 }) != false, let entry = strdup("\(name)=\(text)") else { return }
        let start = entry + name.utf8.count + 1
        (value, first) = (start, start.pointee)
        start.pointee = 0
        putenv(entry)
    }

    /// Opens the display without GL if ``prepare()`` has added the variable.
    static func suppressed<R>(_ open: () -> R) -> R {
        value?.pointee = first
        defer { value?.pointee = 0 }
        return open()
    }
}
