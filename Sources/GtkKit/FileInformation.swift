import CGtk
public import Foundation

/// What the desktop knows of a file.
public struct FileInformation: Sendable {
    public let url: URL
    /// The name as it is shown.
    public let name: String
    /// The MIME type, by name and content.
    public let type: String
    /// In bytes.
    public let size: Int
    /// Whether it is a file, not a folder, a pipe or anything else.
    public let isRegular: Bool

    private static let attributes = "standard::display-name,standard::size,standard::content-type,standard::type"

    /// Asks for it off the main thread; nil if it is not there or may not be read.
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

    /// The registered type (RFC 5334) of a file for which the desktop has one that only desktops know: others would not
    /// play `audio/x-vorbis+ogg`.
    static func shared(_ type: String, of name: String) -> String {
        if type == "application/ogg" { return name.lowercased().hasSuffix(".ogv") ? "video/ogg" : "audio/ogg" }
        guard type.hasSuffix("+ogg") else { return type }
        return type.hasPrefix("video/") ? "video/ogg" : "audio/ogg"
    }

    /// Asks for several, and answers in their order; those that are not there are left out.
    public static func query(_ urls: [URL], _ done: @escaping @MainActor ([FileInformation]) -> Void) {
        queryNext(urls[...], [], done)
    }

    private static func queryNext(
        _ urls: ArraySlice<URL>, _ results: [FileInformation], _ done: @escaping @MainActor ([FileInformation]) -> Void
    ) {
        guard let next = urls.first else { return done(results) }
        query(next) { information in queryNext(urls.dropFirst(), results + (information.map { [$0] } ?? []), done) }
    }

    /// Where a GFile lies on this computer; nil if it does not.
    static func url(of file: OpaquePointer) -> URL? {
        guard let path = g_file_get_path(file) else { return nil }
        defer { g_free(path) }
        return URL(fileURLWithPath: String(cString: path))
    }
}
