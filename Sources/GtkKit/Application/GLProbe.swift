import CGtk
import Glibc

/// Keeps GDK from looking for GL where `GSK_RENDERER=cairo` says that nothing draws with it. Without a graphics card the
/// look alone loads a driver with a compiler in it: 30 MB and a quarter of the start.
///
/// GDK takes this only from the environment, in which it must not stay: a browser that a link opens would have no GL
/// either. Changing the environment is safe only while the process has one thread, and GTK starts later. So a variable
/// is added first, empty; what it is to say is in the memory behind its end, and becomes the value and goes again by
/// writing one byte, which no other thread can find half done. Programs that are started inherit an empty variable.
public enum GLProbe {
    private static var value: UnsafeMutablePointer<CChar>?
    private static var first: CChar = 0

    /// Call it while the process has one thread.
    public static func prepare() {
        guard getenv("GSK_RENDERER").map({ String(cString: $0) }) == "cairo" else { return }
        let (name, text) = gtk_get_minor_version() < 16 ? ("GDK_DEBUG", "gl-disable") : ("GDK_DISABLE", "gl")
        // What the user says of GDK stays.
        guard getenv(name) == nil, let entry = strdup("\(name)=\(text)") else { return }
        let start = entry + name.utf8.count + 1
        (value, first) = (start, start.pointee)
        start.pointee = 0
        putenv(entry)
    }

    /// Opens the display without GL if ``prepare()`` said so.
    static func suppressed<R>(_ open: () -> R) -> R {
        value?.pointee = first
        defer { value?.pointee = 0 }
        return open()
    }
}
