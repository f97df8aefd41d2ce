import CGtk
import Composer
import GtkKit

/// Positions in the text.
extension EditorView {
    /// The height of a line of text in the view's font, in pixels.
    var lineHeight: Double {
        guard let context = gtk_widget_get_pango_context(textView.cast()),
            let metrics = pango_context_get_metrics(context, nil, nil)
        else { return 20 }
        defer { pango_font_metrics_unref(metrics) }
        return Double(pango_font_metrics_get_height(metrics)) / Double(PANGO_SCALE)
    }

    /// The number of display lines, as GTK wraps the text at its current width. Counts at most `limit + 1` lines, which
    /// bounds the cost for long texts.
    func displayLines(atMost limit: Int) -> Int {
        var iter = GtkTextIter()
        gtk_text_buffer_get_start_iter(buffer.cast(), &iter)
        var lines = 1
        while lines <= limit {
            let before = gtk_text_iter_get_offset(&iter)
            let isBeforeEnd = gtk_text_view_forward_display_line(textView.cast(), &iter) != 0
            if !isBeforeEnd {
                // An empty last line starts at the end of the text.
                let isEmptyLine =
                    gtk_text_iter_get_offset(&iter) > before && gtk_text_iter_starts_line(&iter) != 0
                return isEmptyLine ? lines + 1 : lines
            }
            lines += 1
        }
        return lines
    }

    /// The number of lines separated by line breaks, regardless of wrapping.
    var brokenLines: Int { Int(gtk_text_buffer_get_line_count(buffer.cast())) }

    /// The caret, in the text view's coordinates.
    var caretRectangle: GdkRectangle {
        var iter = GtkTextIter()
        gtk_text_buffer_get_iter_at_mark(buffer.cast(), &iter, gtk_text_buffer_get_insert(buffer.cast()))
        return rectangle(at: &iter)
    }

    /// The rectangle of a character, in another widget's coordinates.
    /// - Parameter offset: In UTF-16 code units of the document.
    func rectangle(at offset: Int, in other: Widget) -> GdkRectangle {
        var iter = GtkTextIter()
        gtk_text_buffer_get_iter_at_offset(buffer.cast(), &iter, Int32(clamping: scalarOffset(of: offset)))
        var frame = rectangle(at: &iter)
        var (x, y) = (0.0, 0.0)
        shim_translate(textView.pointer, other.pointer, Double(frame.x), Double(frame.y), &x, &y)
        frame.x = Int32(x)
        frame.y = Int32(y)
        return frame
    }

    private func rectangle(at iter: inout GtkTextIter) -> GdkRectangle {
        var frame = GdkRectangle()
        gtk_text_view_get_iter_location(textView.cast(), &iter, &frame)
        var (x, y): (Int32, Int32) = (0, 0)
        gtk_text_view_buffer_to_window_coords(textView.cast(), GTK_TEXT_WINDOW_WIDGET, frame.x, frame.y, &x, &y)
        return GdkRectangle(x: x, y: y, width: frame.width, height: frame.height)
    }

    /// Scrolls the caret into view by the shortest distance.
    func scrollToCaret() {
        gtk_text_view_scroll_mark_onscreen(textView.cast(), gtk_text_buffer_get_insert(buffer.cast()))
    }
}

extension EditorView {
    /// The offset nearest to a point in the text view's coordinates, in UTF-16 code units of the document.
    func offset(x: Double, y: Double) -> Int {
        var (bufferX, bufferY): (Int32, Int32) = (0, 0)
        gtk_text_view_window_to_buffer_coords(
            textView.cast(), GTK_TEXT_WINDOW_WIDGET, Int32(x), Int32(y), &bufferX, &bufferY)
        var iter = GtkTextIter()
        gtk_text_view_get_iter_at_location(textView.cast(), &iter, bufferX, bufferY)
        return utf16Offset(of: &iter)
    }

    /// Shows a caret at the drop position; `nil` hides it.
    func showDropCaret(at offset: Int?) {
        var caretFrame: GdkRectangle?
        if let offset {
            var (iter, rectangle) = (GtkTextIter(), GdkRectangle())
            gtk_text_buffer_get_iter_at_offset(buffer.cast(), &iter, Int32(clamping: scalarOffset(of: offset)))
            gtk_text_view_get_iter_location(textView.cast(), &iter, &rectangle)
            caretFrame = rectangle
        }
        ComposerTextView.of(textView)?.dropCaret = caretFrame
    }
}
