import CGtk
package import Composer
import ComposerSessions
import Foundation
package import GtkKit

/// Reads and writes the desktop's clipboard: plain text, and the composer's own format, which preserves mentions
/// (HKW-29, SLK-36).
package enum Clipboard {
    package static func write(_ fragment: ClipboardFragment, of widget: Widget) {
        guard let clipboard = gtk_widget_get_clipboard(widget.cast()) else { return }
        let provider = fragment.provider
        gdk_clipboard_set_content(clipboard, provider.cast())
    }

    /// Calls `completion` with the clipboard's usable content in order of preference, or with an empty array.
    /// Asynchronous: the data may come from another process.
    ///
    /// - Parameters:
    ///   - asPlainText: Whether to ignore everything but text.
    ///   - isSelection: Whether to read the primary selection, which the middle button pastes.
    static func read(
        of widget: Widget, asPlainText: Bool = false, isSelection: Bool = false,
        _ completion: @escaping @MainActor ([PasteOffer]) -> Void
    ) {
        let pointer =
            isSelection ? gtk_widget_get_primary_clipboard(widget.cast()) : gtk_widget_get_clipboard(widget.cast())
        guard let pointer else { return completion([]) }
        let clipboard = Object(borrowing: UnsafeMutableRawPointer(pointer))
        let formats = gdk_clipboard_get_formats(clipboard.cast())
        guard !asPlainText, gdk_content_formats_contain_mime_type(formats, ClipboardFragment.mediaType) != 0 else {
            return readText(clipboard, completion)
        }
        readData(clipboard, ClipboardFragment.mediaType) { data in
            // Any program may offer this type: fall back to text if the data cannot be decoded.
            guard let fragment = data.flatMap({ try? ClipboardFragment.decode($0) }) else {
                return readText(clipboard, completion)
            }
            completion([.fragment(fragment)])
        }
    }

    private static func readText(_ clipboard: Object, _ completion: @escaping @MainActor ([PasteOffer]) -> Void) {
        AsyncCall.start {
            gdk_clipboard_read_text_async(clipboard.cast(), nil, $0, $1)
        } _: { _, result in
            let text = gdk_clipboard_read_text_finish(clipboard.cast(), result, nil)
            defer { g_free(text) }
            completion(text.map { [.text(String(cString: $0))] } ?? [])
        }
    }

    private static func readData(
        _ clipboard: Object, _ type: String, _ completion: @escaping @MainActor (Data?) -> Void
    ) {
        AsyncCall.start { callback, data in
            type.withCString { type in
                var types: [UnsafePointer<CChar>?] = [type, nil]
                gdk_clipboard_read_async(clipboard.cast(), &types, G_PRIORITY_DEFAULT, nil, callback, data)
            }
        } _: { _, result in
            guard let stream = gdk_clipboard_read_finish(clipboard.cast(), result, nil, nil) else {
                return completion(nil)
            }
            ContentStream.readAll(Object(owning: UnsafeMutableRawPointer(stream)), completion)
        }
    }
}

extension ClipboardFragment {
    /// A content provider with the composer's own format, HTML and plain text, for the clipboard and drags.
    var provider: ContentProvider {
        var forms: [(type: String, data: Data)] = []
        // Without it the text and HTML are offered still.
        if let encodedFragment = try? encoded() { forms.append((Self.mediaType, encodedFragment)) }
        if let html = formattedText { forms.append(("text/html", Data(html.utf8))) }
        return ContentProvider(text: text, data: forms)
    }
}
