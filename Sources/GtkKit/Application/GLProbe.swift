import CGtk
import Glibc

/// Keeps GDK from probing for GL where `GSK_RENDERER=cairo` says that nothing draws with it. Without a graphics card the
/// probe alone loads a driver that contains a compiler: 30 MB and a quarter of the startup time.
///
/// GDK reads this only from the environment, where it must not stay: a browser that a link opens would have no GL either.
/// The environment can be changed safely only while the process has one thread, and GTK starts later. So an empty
/// variable is added first, with its later value in the memory after its terminating zero; writing one byte turns that
/// on and off, which no other thread can see half done. Child processes inherit an empty variable.
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
