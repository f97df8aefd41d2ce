import CGtk
import ChatViewModels
import Composer
import Foundation
import GtkKit

/// The desktop's clipboard: the composer's own form, with mentions, beside plain text (HKW-29, SLK-36).
enum Clipboard {
    static func write(_ fragment: ClipboardFragment, of widget: Widget) {
        guard let clipboard = gtk_widget_get_clipboard(widget.cast()) else { return }
        let provider = fragment.provider
        gdk_clipboard_set_content(clipboard, provider.cast())
    }

    /// Calls `completion` with what the clipboard offers, in the order of preference; with nothing if it holds nothing of
    /// use. Another program may take its time to hand it over.
    ///
    /// - Parameters:
    ///   - asPlainText: leaves out everything but the text.
    ///   - isSelection: reads what was selected last instead, which the middle button pastes.
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
            // Whatever program put it there: what can't be read is as if it was not there.
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
    /// Its own form, HTML for programs that take formatted text, and plain text, for the clipboard or a drag.
    var provider: ContentProvider {
        var forms: [(type: String, data: Data)] = []
        if let encodedFragment = try? encoded() { forms.append((Self.mediaType, encodedFragment)) }
        if let html = formattedText { forms.append(("text/html", Data(html.utf8))) }
        return ContentProvider(text: text, data: forms)
    }
}
