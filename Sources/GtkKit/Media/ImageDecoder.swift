import CGtk
import Dispatch
public import Foundation
import MediaDecoding
import Synchronization

/// A decoded image, ready for drawing.
public struct DecodedImage: Sendable {
    /// A GdkTexture, which is immutable and therefore thread-safe.
    private nonisolated(unsafe) let texture: UnsafeMutableRawPointer
    private let owner: Owner
    /// In pixels.
    public let width: Int
    public let height: Int
    /// Whether this is the first of several frames.
    public let isAnimated: Bool

    /// Reads the pixels that follow a frame record.
    nonisolated init?(reading process: ImageProcess, width: Int, height: Int, isAnimated: Bool) {
        let count = width * height * 4
        guard let memory = g_try_malloc(gsize(count)) else { return nil }
        let bytes = g_bytes_new_take(memory, gsize(count))
        defer { g_bytes_unref(bytes) }
        guard process.read(into: UnsafeMutableRawBufferPointer(start: memory, count: count)) else { return nil }
        self.init(bytes, width: width, height: height, isAnimated: isAnimated)
    }

    /// - Parameter pixels: RGBA, 8 bits per channel, row by row.
    public nonisolated init?(pixels: [UInt8], width: Int, height: Int) {
        guard width > 0, height > 0, pixels.count == width * height * 4 else { return nil }
        let bytes = g_bytes_new(pixels, gsize(pixels.count))
        defer { g_bytes_unref(bytes) }
        self.init(bytes, width: width, height: height, isAnimated: false)
    }

    private nonisolated init?(_ bytes: OpaquePointer?, width: Int, height: Int, isAnimated: Bool) {
        guard
            let texture = gdk_memory_texture_new(
                gint(width), gint(height), GDK_MEMORY_R8G8B8A8, bytes, gsize(width * 4))
        else { return nil }
        self.texture = UnsafeMutableRawPointer(texture)
        owner = Owner(self.texture)
        self.width = width
        self.height = height
        self.isAnimated = isAnimated
    }

    /// The memory footprint of the pixels, in bytes.
    public nonisolated var bytes: Int { width * height * 4 }

    public var paintable: Object { Object(borrowing: texture) }

    /// - Returns: `false` if the file cannot be written.
    @discardableResult
    public nonisolated func savePNG(to path: String) -> Bool {
        gdk_texture_save_to_png(OpaquePointer(texture), path) != 0
    }

    /// The image as a PNG file.
    public nonisolated var png: Data? {
        guard let bytes = gdk_texture_save_to_png_bytes(OpaquePointer(texture)) else { return nil }
        defer { g_bytes_unref(bytes) }
        var count: gsize = 0
        guard let start = g_bytes_get_data(bytes, &count) else { return nil }
        return Data(bytes: start, count: Int(count))
    }

    private nonisolated final class Owner: Sendable {
        nonisolated(unsafe) private let texture: UnsafeMutableRawPointer
        init(_ texture: UnsafeMutableRawPointer) { self.texture = texture }
        deinit { g_object_unref(texture) }
    }
}

/// Decodes images from files, each in its own sandboxed process (``ImageLimits``), one at a time, and never at more
/// than the requested pixel size. Videos use a separate queue, so that a slow one does not delay images.
public nonisolated enum ImageDecoder {
    package static let imageQueue = DispatchQueue(label: "picture-decoder", qos: .utility)
    package static let videoQueue = DispatchQueue(label: "film-decoder", qos: .utility)

    /// Returns the image scaled down to fit the box in pixels, never scaled up; `nil` if it can't be decoded, for callers
    /// that show a fallback whatever the reason.
    public static func image(in file: URL, fitting width: Int, by height: Int) async -> DecodedImage? {
        try? await load(file, fitting: width, by: height)
    }

    /// Like ``image(in:fitting:by:)``, but reports why decoding failed.
    /// - Throws: ``ImageFailure``, also on cancellation.
    public static func load(_ file: URL, fitting width: Int, by height: Int) async throws -> DecodedImage {
        let result = await on(imageQueue) { () -> Result<DecodedImage, ImageFailure> in
            Result { () throws(ImageFailure) in
                try decode(ImageProcess(.still, path: file.path, width: width, height: height))
            }
        }
        return try (result ?? .failure(.stopped)).get()
    }

    /// Returns a frame from near the beginning of a video.
    /// - Throws: ``ImageFailure``, also on cancellation.
    public static func loadStill(ofFilm file: URL, fitting width: Int, by height: Int) async throws -> DecodedImage {
        let result = await on(videoQueue) { () -> Result<DecodedImage, ImageFailure> in
            Result { () throws(ImageFailure) in
                try decode(ImageProcess(film: .still, path: file.path, width: width, height: height))
            }
        }
        return try (result ?? .failure(.stopped)).get()
    }

    private static func decode(_ process: ImageProcess) throws(ImageFailure) -> DecodedImage {
        defer { process.finish() }
        var isAnimated = false
        while true {
            switch process.record() {
            case .info(_, _, let moves): isAnimated = moves
            case .frame(let width, let height, _):
                guard let image = DecodedImage(reading: process, width: width, height: height, isAnimated: isAnimated)
                else { throw .stopped }
                return image
            case .end: throw .broken
            case .failure(let failure): throw failure
            }
        }
    }

    /// - Returns: `nil` if the task was canceled before the work started.
    package static func on<T: Sendable>(_ queue: DispatchQueue, _ work: @escaping @Sendable () -> T) async -> T? {
        let flag = Flag()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: flag.isSet ? nil : work()) }
            }
        } onCancel: {
            flag.set()
        }
    }

    private nonisolated final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}
