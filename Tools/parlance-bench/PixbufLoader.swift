import Foundation

/// gdk-pixbuf, which other programs decode with, loaded when it is measured.
struct PixbufLoader {
    private typealias Load =
        @convention(c) (UnsafePointer<CChar>, CInt, CInt, CInt, UnsafeMutableRawPointer?) -> OpaquePointer?
    private typealias Open = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?) -> OpaquePointer?
    private typealias Begin = @convention(c) (OpaquePointer, UnsafePointer<timeval>?) -> OpaquePointer?
    private typealias Advance = @convention(c) (OpaquePointer, UnsafePointer<timeval>?) -> CInt
    private typealias Take = @convention(c) (OpaquePointer) -> OpaquePointer?
    private typealias Delay = @convention(c) (OpaquePointer) -> CInt
    private typealias Scale = @convention(c) (OpaquePointer, CInt, CInt, CInt) -> OpaquePointer?
    private typealias Release = @convention(c) (OpaquePointer) -> Void

    private let load: Load
    private let open: Open
    private let begin: Begin
    private let advance: Advance
    private let take: Take
    private let delay: Delay
    private let scale: Scale
    private let release: Release

    /// `nil` if there is none, or one that decodes in other processes, which is so since 2.44.
    init?() {
        guard let library = dlopen("libgdk_pixbuf-2.0.so.0", RTLD_NOW),
            let objects = dlopen("libgobject-2.0.so.0", RTLD_NOW),
            let minor = dlsym(library, "gdk_pixbuf_minor_version")?.load(as: UInt32.self), minor < 44
        else { return nil }
        func function<T>(_ name: String, in library: UnsafeMutableRawPointer, as type: T.Type) -> T? {
            dlsym(library, name).map { unsafeBitCast($0, to: type) }
        }
        guard let load = function("gdk_pixbuf_new_from_file_at_scale", in: library, as: Load.self),
            let open = function("gdk_pixbuf_animation_new_from_file", in: library, as: Open.self),
            let begin = function("gdk_pixbuf_animation_get_iter", in: library, as: Begin.self),
            let advance = function("gdk_pixbuf_animation_iter_advance", in: library, as: Advance.self),
            let take = function("gdk_pixbuf_animation_iter_get_pixbuf", in: library, as: Take.self),
            let delay = function("gdk_pixbuf_animation_iter_get_delay_time", in: library, as: Delay.self),
            let scale = function("gdk_pixbuf_scale_simple", in: library, as: Scale.self),
            let release = function("g_object_unref", in: objects, as: Release.self)
        else { return nil }
        (self.load, self.open, self.begin, self.advance) = (load, open, begin, advance)
        (self.take, self.delay, self.scale, self.release) = (take, delay, scale, release)
    }

    /// The CPU time in milliseconds of decoding a file; `nil` if it cannot.
    /// - Parameters:
    ///   - side: The side of a square that the image is scaled to fit; `nil` leaves it as it is.
    ///   - frames: The number of images of an animation, from the first.
    func milliseconds(_ path: String, _ side: Int?, _ frames: Int) -> Double? {
        let start = ThreadClock.milliseconds
        let isRead = frames > 1 ? play(path, side.map(CInt.init), frames) : still(path, CInt(side ?? -1))
        return isRead ? ThreadClock.milliseconds - start : nil
    }

    private func still(_ path: String, _ side: CInt) -> Bool {
        guard let image = load(path, side, side, 1, nil) else { return false }
        release(image)
        return true
    }

    private func play(_ path: String, _ width: CInt?, _ frames: Int) -> Bool {
        guard let animation = open(path, nil) else { return false }
        defer { release(animation) }
        // Laid out as GTimeVal is.
        var time = timeval()
        guard let frame = begin(animation, &time) else { return false }
        defer { release(frame) }
        for _ in 0..<frames {
            guard let image = take(frame) else { return false }
            if let width {
                // GDK_INTERP_BILINEAR
                guard let scaled = scale(image, width, width * 3 / 4, 2) else { return false }
                release(scaled)
            }
            time.tv_usec += Int(delay(frame)) * 1000
            (time.tv_sec, time.tv_usec) = (time.tv_sec + time.tv_usec / 1_000_000, time.tv_usec % 1_000_000)
            _ = advance(frame, &time)
        }
        return true
    }
}

enum ThreadClock {
    static var milliseconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}
