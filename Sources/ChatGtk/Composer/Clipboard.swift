import CGtk
import GtkKit

/// The desktop's clipboard, as plain text.
enum Clipboard {
    static func write(_ text: String, of widget: Widget) {
        guard let clipboard = gtk_widget_get_clipboard(widget.cast()) else { return }
        gdk_clipboard_set_text(clipboard, text)
    }

    /// Calls `answer` with the text, nil if there is none. Another program may take its time to hand it over.
    static func readText(of widget: Widget, _ answer: @escaping @MainActor (String?) -> Void) {
        guard let clipboard = gtk_widget_get_clipboard(widget.cast()) else { return answer(nil) }
        let box = Unmanaged.passRetained(AnswerBox(answer)).toOpaque()
        gdk_clipboard_read_text_async(
            clipboard, nil,
            { source, result, data in
                nonisolated(unsafe) let (source, result, data) = (source, result, data)
                MainActor.assumeIsolated {
                    guard let data else { return }
                    let answer = Unmanaged<AnswerBox>.fromOpaque(data).takeRetainedValue().answer
                    let text = gdk_clipboard_read_text_finish(OpaquePointer(source), result, nil)
                    defer { g_free(text) }
                    answer(text.map { String(cString: $0) })
                }
            }, box)
    }

    private final class AnswerBox {
        let answer: @MainActor (String?) -> Void
        init(_ answer: @escaping @MainActor (String?) -> Void) { self.answer = answer }
    }
}
