import CGtk
public import Foundation

/// Metadata of a file, from GIO.
public struct FileInformation: Sendable {
    public let url: URL
    /// The display name.
    public let name: String
    /// The MIME type, guessed from name and content.
    public let type: String
    /// In bytes.
    public let size: Int
    /// Whether it is a regular file rather than a folder, pipe or device.
    public let isRegular: Bool

    private static let attributes = "standard::display-name,standard::size,standard::content-type,standard::type"

    /// Queries the file asynchronously; calls `done` with `nil` if it does not exist or is not readable.
    public static func query(_ url: URL, _ done: @escaping @MainActor (FileInformation?) -> Void) {
        let file = Object(owning: UnsafeMutableRawPointer(g_file_new_for_path(url.path)))
        AsyncCall.start {
            g_file_query_info_async(
                file.cast(), attributes, shim_file_query_info_none, G_PRIORITY_DEFAULT, nil, $0, $1)
        } _: { _, result in
            guard let info = g_file_query_info_finish(file.cast(), result, nil) else { return done(nil) }
            defer { g_object_unref(UnsafeMutableRawPointer(info)) }
            let name = g_file_info_get_display_name(info).map { String(cString: $0) } ?? url.lastPathComponent
            let type = g_file_info_get_content_type(info).flatMap { g_content_type_get_mime_type($0) }
            defer { g_free(type) }
            done(
                FileInformation(
                    url: url, name: name,
                    type: shared(type.map { String(cString: $0) } ?? "application/octet-stream", of: name),
                    size: Int(g_file_info_get_size(info)),
                    isRegular: g_file_info_get_file_type(info) == G_FILE_TYPE_REGULAR))
        }
    }

    /// Maps the desktop-specific Ogg types of shared-mime-info to the registered ones (RFC 5334): other clients would
    /// not play `audio/x-vorbis+ogg`.
    static func shared(_ type: String, of name: String) -> String {
        if type == "application/ogg" { return name.lowercased().hasSuffix(".ogv") ? "video/ogg" : "audio/ogg" }
        guard type.hasSuffix("+ogg") else { return type }
        return type.hasPrefix("video/") ? "video/ogg" : "audio/ogg"
    }

    /// Queries several files and keeps their order; unreadable ones are omitted.
    public static func query(_ urls: [URL], _ done: @escaping @MainActor ([FileInformation]) -> Void) {
        queryNext(urls[...], [], done)
    }

    private static func queryNext(
        _ urls: ArraySlice<URL>, _ results: [FileInformation], _ done: @escaping @MainActor ([FileInformation]) -> Void
    ) {
        guard let next = urls.first else { return done(results) }
        query(next) { information in queryNext(urls.dropFirst(), results + (information.map { [$0] } ?? []), done) }
    }

    /// Returns the local path of a GFile, or `nil` if it has none.
    static func url(of file: OpaquePointer) -> URL? {
        guard let path = g_file_get_path(file) else { return nil }
        defer { g_free(path) }
        return URL(fileURLWithPath: String(cString: path))
    }
}
