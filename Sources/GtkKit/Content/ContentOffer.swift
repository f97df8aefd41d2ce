import CGtk
public import Foundation

/// Content that another application offers through the clipboard or drag and drop.
///
/// Transfers are asynchronous, and the content is untrusted.
public final class ContentOffer: Object {
    var isDrop: Bool { shim_is_a(pointer, gdk_drop_get_type()) != 0 }

    /// The clipboard's content.
    public static func clipboard(of widget: Widget) -> ContentOffer? {
        gtk_widget_get_clipboard(widget.cast()).map { ContentOffer(borrowing: UnsafeMutableRawPointer($0)) }
    }

    /// The content of the primary selection, which the middle button pastes.
    public static func primarySelection(of widget: Widget) -> ContentOffer? {
        gtk_widget_get_primary_clipboard(widget.cast()).map { ContentOffer(borrowing: UnsafeMutableRawPointer($0)) }
    }

    /// Returns whether the content is offered as this MIME type, without a conversion.
    public func offers(_ type: String) -> Bool {
        let formats = isDrop ? gdk_drop_get_formats(cast()) : gdk_clipboard_get_formats(cast())
        return gdk_content_formats_contain_mime_type(formats, type) != 0
    }

    /// The available MIME types, advertised ones first and in their order.
    public var types: [String] {
        guard let formats = isDrop ? gdk_drop_get_formats(cast()) : gdk_clipboard_get_formats(cast()),
            // Consumes the reference.
            let all = gdk_content_formats_union_deserialize_mime_types(
                gdk_content_formats_union_serialize_mime_types(gdk_content_formats_ref(formats)))
        else { return [] }
        defer { gdk_content_formats_unref(all) }
        var count: gsize = 0
        guard let names = gdk_content_formats_get_mime_types(all, &count) else { return [] }
        let advertised = Self.names(in: formats)
        // Exclude image formats that GDK could convert to: a JPEG must stay a JPEG.
        let others = (0..<Int(count)).compactMap { names[$0].map { String(cString: $0) } }
            .filter { !$0.hasPrefix("image/") }
        return advertised + others.filter { !advertised.contains($0) }
    }

    /// Reads the content as the given MIME type.
    /// - Parameter limit: The maximum number of bytes.
    public func readData(
        _ type: String, limit: Int = ContentStream.limit,
        _ done: @escaping @MainActor (Result<Data, ContentStream.Failure>) -> Void
    ) {
        AsyncCall.start { callback, data in
            type.withCString { type in
                var types: [UnsafePointer<CChar>?] = [type, nil]
                if isDrop {
                    gdk_drop_read_async(cast(), &types, G_PRIORITY_DEFAULT, nil, callback, data)
                } else {
                    gdk_clipboard_read_async(cast(), &types, G_PRIORITY_DEFAULT, nil, callback, data)
                }
            }
        } _: { [self] _, result in
            let stream =
                isDrop
                ? gdk_drop_read_finish(cast(), result, nil, nil) : gdk_clipboard_read_finish(cast(), result, nil, nil)
            guard let stream else { return done(.failure(.unreadable)) }
            ContentStream.readAll(Object(owning: UnsafeMutableRawPointer(stream)), limit: limit, done)
        }
    }

    /// Reads a file list; omits files without a local path.
    public func readFiles(_ done: @escaping @MainActor ([URL]) -> Void) {
        readValue(gdk_file_list_get_type()) { value in
            guard let value, let list = g_value_get_boxed(value) else { return done([]) }
            let files = gdk_file_list_get_files(OpaquePointer(list))
            defer { g_slist_free(files) }
            done(Self.urls(of: files))
        }
    }

    /// Reads the content as text; calls `done` with `nil` if there is none.
    public func readText(_ done: @escaping @MainActor (String?) -> Void) {
        readValue(shim_type_string()) { value in
            done(value.flatMap { g_value_get_string($0) }.map { String(cString: $0) })
        }
    }

    /// Reports to the drag source whether the drop was accepted. No effect on a clipboard.
    public func finishDrop(isAccepted: Bool) {
        finishDrop(isAccepted ? .copy : [])
    }

    /// Reports to the drag source what the drop did; no action means that it was rejected. No effect on a clipboard.
    public func finishDrop(_ action: DragActions) {
        if isDrop { gdk_drop_finish(cast(), action.gdk) }
    }

    /// What the drag source allows a drop to do.
    public var dropActions: DragActions {
        isDrop ? DragActions(rawValue: UInt32(gdk_drop_get_actions(cast()).rawValue)) : []
    }

    private func readValue(_ type: GType, _ done: @escaping @MainActor (UnsafePointer<GValue>?) -> Void) {
        AsyncCall.start { callback, data in
            if isDrop {
                gdk_drop_read_value_async(cast(), type, G_PRIORITY_DEFAULT, nil, callback, data)
            } else {
                gdk_clipboard_read_value_async(cast(), type, G_PRIORITY_DEFAULT, nil, callback, data)
            }
        } _: { [self] _, result in
            done(
                isDrop
                    ? gdk_drop_read_value_finish(cast(), result, nil)
                    : gdk_clipboard_read_value_finish(cast(), result, nil))
        }
    }

    private static func names(in formats: OpaquePointer) -> [String] {
        var count: gsize = 0
        guard let names = gdk_content_formats_get_mime_types(formats, &count) else { return [] }
        return (0..<Int(count)).compactMap { names[$0].map { String(cString: $0) } }
    }

    private static func urls(of files: UnsafeMutablePointer<GSList>?) -> [URL] {
        var urls: [URL] = []
        var next = files
        while let item = next {
            if let file = item.pointee.data, let url = FileInformation.url(of: OpaquePointer(file)) { urls.append(url) }
            next = item.pointee.next
        }
        return urls
    }
}
