import CGtk

/// Text that is broken into lines, to measure and draw in a custom widget. Offsets count bytes of UTF-8, positions
/// pixels.
public final class TextLayout: Object {
    /// Creates a layout in the widget's font, which wraps between words, or within those that are longer than a line.
    public convenience init(_ text: String, in widget: some WidgetProtocol) {
        self.init(owning: UnsafeMutableRawPointer(gtk_widget_create_pango_layout(widget.gtk, text)))
        pango_layout_set_wrap(cast(), PANGO_WRAP_WORD_CHAR)
    }

    public func setAttributes(_ attributes: TextAttributes) { pango_layout_set_attributes(cast(), attributes.list) }

    /// Sets the width at which lines are wrapped; `nil` disables wrapping.
    public func setWidth(_ width: Int?) { pango_layout_set_width(cast(), width.map { gint($0) * PANGO_SCALE } ?? -1) }

    /// The greatest width that ``setWidth(_:)`` accepts.
    public nonisolated static let maxWidth = Int(Int32.max / PANGO_SCALE)

    public var size: (width: Int, height: Int) {
        var (width, height): (gint, gint) = (0, 0)
        pango_layout_get_pixel_size(cast(), &width, &height)
        return (Int(width), Int(height))
    }

    /// The left and right edge of the last line.
    public var lastLineEdges: (left: Int, right: Int) {
        guard let iterator = pango_layout_get_iter(cast()) else { return (0, 0) }
        defer { pango_layout_iter_free(iterator) }
        while pango_layout_iter_at_last_line(iterator) == 0, pango_layout_iter_next_line(iterator) != 0 {}
        var bounds = PangoRectangle()
        pango_layout_iter_get_line_extents(iterator, nil, &bounds)
        pango_extents_to_pixels(&bounds, nil)
        return (Int(bounds.x), Int(bounds.x + bounds.width))
    }

    /// Returns the grapheme cluster at a position.
    /// - Returns: Its offset, how many of its Unicode scalars precede the position, and whether the position is
    ///   inside the text rather than beside it.
    public func position(atX x: Double, y: Double) -> (offset: Int, trailingScalars: Int, isInside: Bool) {
        var (index, trailing): (gint, gint) = (0, 0)
        let scale = Double(PANGO_SCALE)
        let isInside = pango_layout_xy_to_index(cast(), gint(x * scale), gint(y * scale), &index, &trailing) != 0
        return (Int(index), Int(trailing), isInside)
    }

    /// A line; valid only while ``forEachLine(_:)`` passes it.
    public struct Line {
        fileprivate let line: UnsafeMutablePointer<PangoLayoutLine>
        public let start: Int
        public let length: Int
        public let top: Double
        public let bottom: Double

        /// Returns the horizontal extents of a range of the line: several where the direction changes.
        public func extents(of range: Range<Int>) -> [(left: Double, right: Double)] {
            var (edges, count): (UnsafeMutablePointer<gint>?, gint) = (nil, 0)
            pango_layout_line_get_x_ranges(line, gint(range.lowerBound), gint(range.upperBound), &edges, &count)
            guard let edges else { return [] }
            defer { g_free(edges) }
            let unit = Double(PANGO_SCALE)
            return (0..<Int(count)).map { (Double(edges[2 * $0]) / unit, Double(edges[2 * $0 + 1]) / unit) }
        }
    }

    /// Calls `body` with each line until it returns `false`.
    public func forEachLine(_ body: (Line) -> Bool) {
        guard let iterator = pango_layout_get_iter(cast()) else { return }
        defer { pango_layout_iter_free(iterator) }
        repeat {
            guard let line = pango_layout_iter_get_line_readonly(iterator) else { return }
            var (top, bottom): (gint, gint) = (0, 0)
            pango_layout_iter_get_line_yrange(iterator, &top, &bottom)
            let unit = Double(PANGO_SCALE)
            let isContinuing = body(
                Line(
                    line: line, start: Int(line.pointee.start_index), length: Int(line.pointee.length),
                    top: Double(top) / unit, bottom: Double(bottom) / unit))
            guard isContinuing else { return }
        } while pango_layout_iter_next_line(iterator) != 0
    }
}

extension WidgetProtocol {
    /// A number that changes with the widget's font and with everything else that invalidates its layouts.
    public var fontSerial: UInt32 { pango_context_get_serial(gtk_widget_get_pango_context(gtk)) }

    /// The approximate width of a character in the widget's font, in pixels.
    public var approximateCharacterWidth: Double {
        let metrics = pango_context_get_metrics(gtk_widget_get_pango_context(gtk), nil, nil)
        defer { pango_font_metrics_unref(metrics) }
        return Double(pango_font_metrics_get_approximate_char_width(metrics)) / Double(PANGO_SCALE)
    }
}

extension StringProtocol {
    /// Whether the first letter with a direction belongs to a right-to-left script.
    public nonisolated var startsRightToLeft: Bool {
        for scalar in unicodeScalars {
            switch g_unichar_get_script(scalar.value) {
            case G_UNICODE_SCRIPT_COMMON, G_UNICODE_SCRIPT_INHERITED: continue
            case G_UNICODE_SCRIPT_ARABIC, G_UNICODE_SCRIPT_HEBREW, G_UNICODE_SCRIPT_SYRIAC, G_UNICODE_SCRIPT_THAANA,
                G_UNICODE_SCRIPT_NKO:
                return true
            default: return false
            }
        }
        return false
    }
}
