import CGtk
import Composer
import GtkKit

/// Positions in the text.
extension EditorView {
    /// The height of a line of text in the view's font, in pixels.
    var lineHeight: Double { textView.lineHeight ?? 20 }

    /// The number of display lines, as GTK wraps the text at its current width. Counts at most `limit + 1` lines, which
    /// bounds the cost for long texts.
    func displayLines(atMost limit: Int) -> Int {
        var place = buffer.start
        var lines = 1
        while lines <= limit {
            let before = place.offset
            let isBeforeEnd = textView.moveToNextDisplayLine(&place)
            if !isBeforeEnd {
                // An empty last line starts at the end of the text.
                let isEmptyLine = place.offset > before && place.startsLine
                return isEmptyLine ? lines + 1 : lines
            }
            lines += 1
        }
        return lines
    }

    /// The number of lines separated by line breaks, regardless of wrapping.
    var brokenLines: Int { buffer.lineCount }

    /// The caret, in the text view's coordinates.
    var caretRectangle: GdkRectangle { textView.rectangle(of: buffer.caret) }

    /// The rectangle of a character, in another widget's coordinates.
    /// - Parameter offset: In UTF-16 code units of the document.
    func rectangle(at offset: Int, in other: Widget) -> GdkRectangle {
        var frame = textView.rectangle(of: buffer.iterator(at: scalarOffset(of: offset)))
        let corner = textView.translate(x: Double(frame.x), y: Double(frame.y), to: other) ?? (0, 0)
        frame.x = Int32(corner.x)
        frame.y = Int32(corner.y)
        return frame
    }

    /// Scrolls the caret into view by the shortest distance.
    func scrollToCaret() { textView.scrollToCaret() }
}

extension EditorView {
    /// The offset nearest to a point in the text view's coordinates, in UTF-16 code units of the document.
    func offset(x: Double, y: Double) -> Int { utf16Offset(of: textView.iterator(x: x, y: y)) }

    /// Shows a caret at the drop position; `nil` hides it.
    func showDropCaret(at offset: Int?) {
        let frame = offset.map { textView.location(of: buffer.iterator(at: scalarOffset(of: $0))) }
        ComposerTextView.of(textView)?.dropCaret = frame
    }
}
