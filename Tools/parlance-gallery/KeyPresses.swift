import CGtk
import ComposerGtk
import GtkKit

/// Inserts characters into a text view, one per frame, to measure the cost of a key press.
struct KeyPresses {
    /// Whether to use the composer bar's text view, or else a bare GtkTextView in a scrolled window.
    let isComposer: Bool
    let count: Int

    /// - Returns: the exit status.
    func run() async -> Int32 {
        let window = Widget(sinking: gtk_window_new())
        window.withPointer { gtk_window_set_default_size($0, 600, 300) }
        let text = isComposer ? composer(in: window) : bare(in: window)
        window.withPointer { gtk_window_present($0) }
        text.grabFocus()
        let words = Array("The quick brown fox jumps over the lazy dog. ")
        await frames(30, of: text)
        for index in 0..<count {
            // The insertion that an input method's commit performs.
            write(String(words[index % words.count]), into: text)
            await frames(1, of: text)
        }
        window.withPointer { gtk_window_destroy($0) }
        return 0
    }

    private func bare(in window: Widget) -> Widget {
        let text = Widget(sinking: gtk_text_view_new())
        text.withPointer { gtk_text_view_set_wrap_mode($0, GTK_WRAP_WORD_CHAR) }
        let scroller = ScrolledWindow(sinking: gtk_scrolled_window_new())
        scroller.setChild(text)
        window.withPointer { first in scroller.withPointer { second in gtk_window_set_child(first, second) } }
        return text
    }

    private func composer(in window: Widget) -> Widget {
        let bar = ComposerBar.make()
        window.withPointer { first in bar.withPointer { second in gtk_window_set_child(first, second) } }
        guard let text = ComposerBar.of(bar)?.textWidget else { return bar }
        return text
    }

    private func write(_ character: String, into text: Widget) {
        guard let buffer = text.withPointer({ gtk_text_view_get_buffer($0) }) else { return }
        gtk_text_buffer_begin_user_action(buffer)
        gtk_text_buffer_insert_interactive_at_cursor(buffer, character, -1, 1)
        gtk_text_buffer_end_user_action(buffer)
        text.withPointer { gtk_text_view_scroll_mark_onscreen($0, gtk_text_buffer_get_insert(buffer)) }
    }

    private func frames(_ count: Int, of widget: Widget) async {
        await withCheckedContinuation { continuation in
            var remaining = count
            widget.addTick {
                remaining -= 1
                if remaining == 0 { continuation.resume() }
                return remaining > 0
            }
        }
    }
}
