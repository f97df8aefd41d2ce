import CGtk
public import Foundation

/// Content offered to other applications through the clipboard or drag and drop, in several formats.
public final class ContentProvider: Object {
    /// - Parameters:
    ///   - text: The plain-text fallback.
    ///   - data: Richer formats by MIME type, most faithful first.
    public convenience init(text: String, data: [(type: String, data: Data)]) {
        var providers: [UnsafeMutablePointer<GdkContentProvider>?] = data.map { type, data in
            let bytes = data.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
            defer { g_bytes_unref(bytes) }
            return gdk_content_provider_new_for_bytes(type, bytes)
        }
        var value = GValue()
        g_value_init(&value, shim_type_string())
        g_value_set_string(&value, text)
        providers.append(gdk_content_provider_new_for_value(&value))
        g_value_unset(&value)
        self.init(
            owning: UnsafeMutableRawPointer(gdk_content_provider_new_union(&providers, gsize(providers.count))))
    }
}

extension ContentProvider {
    /// Content that can only be dropped within this program.
    public convenience init(number: Int) {
        var value = GValue()
        g_value_init(&value, shim_type_int())
        g_value_set_int(&value, gint(clamping: number))
        self.init(owning: UnsafeMutableRawPointer(gdk_content_provider_new_for_value(&value)))
        g_value_unset(&value)
    }
}

/// The desktop's clipboard, for writing; ``ContentOffer`` reads it.
public final class SystemClipboard: Object {
    public func setContent(_ content: ContentProvider) { gdk_clipboard_set_content(cast(), content.cast()) }
    public func setText(_ text: String) { gdk_clipboard_set_text(cast(), text) }
    /// - Parameter texture: A GdkTexture.
    public func setTexture(_ texture: Object) { gdk_clipboard_set_texture(cast(), texture.cast()) }
}

extension WidgetProtocol {
    public var clipboard: SystemClipboard {
        SystemClipboard(borrowing: UnsafeMutableRawPointer(gtk_widget_get_clipboard(gtk)))
    }
}

/// Reads data that another application offers; it can be slow and of any size.
public enum ContentStream {
    /// The maximum number of bytes to read.
    public static let limit = 256 << 20

    /// Why the data is not there.
    public nonisolated enum Failure: Error, Equatable, Sendable {
        case unreadable
        /// There are more bytes than the limit allows.
        case tooLarge
    }

    /// What has been read so far. Each read appends to it: a value passed on from read to read would be copied by each.
    private final class Received {
        var data = Data()
    }

    /// Reads the stream to its end and closes it.
    ///
    /// - Parameters:
    ///   - stream: A GInputStream; ownership passes to the callee.
    ///   - limit: The maximum number of bytes.
    ///   - chunk: The maximum number of bytes of a single read.
    public static func readAll(
        _ stream: Object, limit: Int = ContentStream.limit, chunk: Int = 1 << 20,
        _ done: @escaping @MainActor (Result<Data, Failure>) -> Void
    ) {
        read(stream, Received(), limit, chunk, done)
    }

    private static func read(
        _ stream: Object, _ received: Received, _ limit: Int, _ chunk: Int,
        _ done: @escaping @MainActor (Result<Data, Failure>) -> Void
    ) {
        AsyncCall.start {
            g_input_stream_read_bytes_async(stream.cast(), gsize(chunk), G_PRIORITY_DEFAULT, nil, $0, $1)
        } _: { _, result in
            guard let bytes = g_input_stream_read_bytes_finish(stream.cast(), result, nil) else {
                return done(.failure(.unreadable))
            }
            defer { g_bytes_unref(bytes) }
            var size: gsize = 0
            guard let start = g_bytes_get_data(bytes, &size), size > 0 else { return done(.success(received.data)) }
            guard received.data.count + Int(size) <= limit else { return done(.failure(.tooLarge)) }
            received.data.append(start.assumingMemoryBound(to: UInt8.self), count: Int(size))
            read(stream, received, limit, chunk, done)
        }
    }
}
