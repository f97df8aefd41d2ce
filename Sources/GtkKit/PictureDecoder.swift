import CGtk
import Dispatch
public import Foundation

/// A decoded picture, ready to be drawn.
public struct Picture: Sendable {
    /// A GdkTexture, which never changes and may go from thread to thread.
    private nonisolated(unsafe) let texture: UnsafeMutableRawPointer
    private let owner: Owner
    /// In pixels.
    public let width: Int
    public let height: Int

    nonisolated init(owning texture: UnsafeMutableRawPointer, width: Int, height: Int) {
        self.texture = texture
        owner = Owner(texture)
        self.width = width
        self.height = height
    }

    /// The bytes that it takes in memory.
    public nonisolated var bytes: Int { width * height * 4 }

    public var paintable: Object { Object(borrowing: texture) }

    private nonisolated final class Owner: Sendable {
        nonisolated(unsafe) private let texture: UnsafeMutableRawPointer
        init(_ texture: UnsafeMutableRawPointer) { self.texture = texture }
        deinit { g_object_unref(texture) }
    }
}

/// Decodes pictures from files, one at a time on a thread of its own, and never more pixels than are asked for.
public nonisolated enum PictureDecoder {
    /// A file that claims to have more pixels is not opened: a few bytes can claim any number.
    public static let limit = 120_000_000

    private static let queue = DispatchQueue(label: "picture-decoder", qos: .utility)

    /// Width and height as it is meant to be seen, in pixels; nil if the file is no picture that can be shown.
    public static func size(of file: URL) async -> (width: Int, height: Int)? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: shownSize(of: file.path)) }
        }
    }

    /// The picture within a box of pixels, never larger than it is; nil if it can't be shown.
    public static func picture(in file: URL, fitting width: Int, by height: Int) async -> Picture? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: decode(file.path, width, height)) }
        }
    }

    private static func storedSize(of path: String) -> (width: Int, height: Int)? {
        var (width, height): (gint, gint) = (0, 0)
        guard gdk_pixbuf_get_file_info(path, &width, &height) != nil, width > 0, height > 0,
            Int(width) * Int(height) <= limit
        else { return nil }
        return (Int(width), Int(height))
    }

    private static func shownSize(of path: String) -> (width: Int, height: Int)? {
        guard let stored = storedSize(of: path) else { return nil }
        // How a camera was held is told by the loader alone. A small size makes JPEG's cheap.
        guard let small = gdk_pixbuf_new_from_file_at_scale(path, 16, 16, 1, nil) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(small)) }
        let orientation = gdk_pixbuf_get_option(small, "orientation").flatMap { Int(String(cString: $0)) } ?? 1
        return orientation >= 5 ? (stored.height, stored.width) : stored
    }

    private static func decode(_ path: String, _ width: Int, _ height: Int) -> Picture? {
        guard let stored = storedSize(of: path) else { return nil }
        let scale = min(1, Double(width) / Double(stored.width), Double(height) / Double(stored.height))
        let target = (max(1, Int(Double(stored.width) * scale)), max(1, Int(Double(stored.height) * scale)))
        guard let loaded = gdk_pixbuf_new_from_file_at_scale(path, gint(target.0), gint(target.1), 1, nil) else {
            return nil
        }
        defer { g_object_unref(UnsafeMutableRawPointer(loaded)) }
        guard let upright = gdk_pixbuf_apply_embedded_orientation(loaded) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(upright)) }
        return picture(upright)
    }

    private static func picture(_ pixbuf: OpaquePointer) -> Picture? {
        let (width, height) = (gdk_pixbuf_get_width(pixbuf), gdk_pixbuf_get_height(pixbuf))
        guard let bytes = gdk_pixbuf_read_pixel_bytes(pixbuf) else { return nil }
        defer { g_bytes_unref(bytes) }
        let format = gdk_pixbuf_get_has_alpha(pixbuf) != 0 ? GDK_MEMORY_R8G8B8A8 : GDK_MEMORY_R8G8B8
        guard
            let texture = gdk_memory_texture_new(
                width, height, format, bytes, gsize(gdk_pixbuf_get_rowstride(pixbuf)))
        else { return nil }
        return Picture(owning: UnsafeMutableRawPointer(texture), width: Int(width), height: Int(height))
    }
}
