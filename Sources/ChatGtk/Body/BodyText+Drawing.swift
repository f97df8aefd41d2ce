import CGtk
import ChatCore
import ChatViewModels
import GtkKit

extension BodyText {
    /// The current colors. They follow the theme, so they are read for each drawing.
    var currentPalette: TextAttributes.Palette {
        var text = GdkRGBA(red: 0, green: 0, blue: 0, alpha: 1)
        shim_widget_color(pointer, &text)
        var accent = text
        _ = shim_named_color(pointer, "accent_color", &accent)
        let isHighContrast = adw_style_manager_get_high_contrast(adw_style_manager_get_default()) != 0
        return TextAttributes.Palette(text: BodyColor(text), accent: BodyColor(accent), isHighContrast: isHighContrast)
    }

    /// Draws the backgrounds of pills, code and colored text, below the text.
    func drawChips(_ snapshot: OpaquePointer, _ layout: Object, _ palette: TextAttributes.Palette) {
        struct Background: Equatable {
            var color: BodyColor?
            var alpha: Float = 0
            var radius: Float = 0
        }
        let grounds = content.text.ranges { run -> Background in
            if run.mention != nil { return Background(color: palette.accent, alpha: 0.16, radius: 9) }
            if run.style.contains(.code) { return Background(color: palette.text, alpha: 0.09, radius: 4) }
            guard let color = run.background, !palette.isHighContrast else { return Background() }
            return Background(color: color, alpha: 1, radius: 3)
        }
        for (background, range) in grounds {
            guard let color = background.color else { continue }
            for rectangle in rectangles(of: range, in: layout) {
                draw(
                    snapshot, rectangle.insetBy(-TextContent.chipInset), color.rgba(alpha: background.alpha),
                    background.radius)
            }
        }
    }

    /// Draws covers over spoilers, and the focus ring around the current action.
    func drawCovers(_ snapshot: OpaquePointer, _ layout: Object, _ palette: TextAttributes.Palette) {
        let cover = BodyColor(hexadecimal: palette.isDark ? "#68676c" : "#8b8a91") ?? palette.text
        for index in actions.indices where isCovered(index) {
            for rectangle in rectangles(of: actions[index].range, in: layout) {
                // Glyphs in other styles may extend below the line.
                var frame = rectangle.insetBy(-1)
                frame.height += 3
                draw(snapshot, frame, cover.rgba(), 4)
            }
        }
        guard let currentAction, actions.indices.contains(currentAction), gtk_widget_has_visible_focus(cast()) != 0
        else { return }
        for rectangle in rectangles(of: actions[currentAction].range, in: layout) {
            drawRing(snapshot, rectangle.insetBy(-TextContent.chipInset), palette.accent.rgba(alpha: 0.8))
        }
    }

    /// Draws the matches of a search, below the text.
    func drawHighlights(_ snapshot: OpaquePointer, _ layout: Object) {
        guard !highlightedRanges.isEmpty else { return }
        var color = GdkRGBA(red: 0.9, green: 0.65, blue: 0, alpha: 1)
        _ = shim_named_color(pointer, "warning_bg_color", &color)
        color.alpha = 0.45
        for range in highlightedRanges {
            for rectangle in rectangles(of: range, in: layout) { draw(snapshot, rectangle.insetBy(-1), color, 3) }
        }
    }

    func drawSelection(_ range: Range<Int>, _ layout: Object, _ snapshot: OpaquePointer) {
        var color = GdkRGBA(red: 0.2, green: 0.5, blue: 0.9, alpha: 1)
        _ = shim_named_color(pointer, "accent_bg_color", &color)
        color.alpha = 0.35
        for rectangle in rectangles(of: range, in: layout) {
            var bounds = rectangle.graphene
            gtk_snapshot_append_color(snapshot, &color, &bounds)
        }
    }

    /// The rectangles that a range of text covers, one per line and direction run, in pixels. Excludes spaces at which
    /// a line is wrapped: Pango extends them to the layout's edge.
    func rectangles(of range: Range<Int>, in layout: Object) -> [Rectangle] {
        guard !range.isEmpty, let iterator = pango_layout_get_iter(layout.cast()) else { return [] }
        defer { pango_layout_iter_free(iterator) }
        var result: [Rectangle] = []
        repeat {
            guard let line = pango_layout_iter_get_line_readonly(iterator) else { break }
            let start = Int(line.pointee.start_index)
            guard start < range.upperBound else { break }
            let lineRange = range.clamped(to: start..<endOfLine(from: start, length: Int(line.pointee.length)))
            guard !lineRange.isEmpty else { continue }
            var (top, bottom): (gint, gint) = (0, 0)
            pango_layout_iter_get_line_yrange(iterator, &top, &bottom)
            var (edges, count): (UnsafeMutablePointer<gint>?, gint) = (nil, 0)
            pango_layout_line_get_x_ranges(line, gint(lineRange.lowerBound), gint(lineRange.upperBound), &edges, &count)
            guard let edges else { continue }
            defer { g_free(edges) }
            let unit = Double(PANGO_SCALE)
            for index in 0..<Int(count) {
                let (left, right) = (Double(edges[2 * index]) / unit, Double(edges[2 * index + 1]) / unit)
                result.append(
                    Rectangle(
                        x: left.rounded(.down), y: (Double(top) / unit).rounded(.down),
                        width: right.rounded(.up) - left.rounded(.down),
                        height: ((Double(bottom) - Double(top)) / unit).rounded(.up)))
            }
        } while pango_layout_iter_next_line(iterator) != 0
        return result
    }

    private func endOfLine(from start: Int, length: Int) -> Int {
        let bytes = text.utf8
        var end = bytes.index(bytes.startIndex, offsetBy: min(start + length, bytes.count))
        var offset = min(start + length, bytes.count)
        while offset > start {
            end = bytes.index(before: end)
            guard bytes[end] == 0x20 else { break }
            offset -= 1
        }
        return offset
    }

    /// In pixels, in layout coordinates.
    struct Rectangle {
        var x: Double
        var y: Double
        var width: Double
        var height: Double

        /// Insets the left and right edges; a negative inset widens the rectangle. Keeps the height, because lines are
        /// close.
        func insetBy(_ inset: Double) -> Rectangle {
            Rectangle(x: x + inset, y: y, width: width - 2 * inset, height: height)
        }

        var graphene: graphene_rect_t {
            var rectangle = graphene_rect_t()
            graphene_rect_init(&rectangle, Float(x), Float(y), Float(width), Float(height))
            return rectangle
        }

        func rounded(_ radius: Float) -> GskRoundedRect {
            var (bounds, rounded) = (graphene, GskRoundedRect())
            gsk_rounded_rect_init_from_rect(&rounded, &bounds, radius)
            return rounded
        }
    }

    private func draw(_ snapshot: OpaquePointer, _ rectangle: Rectangle, _ color: GdkRGBA, _ radius: Float) {
        var (color, bounds, rounded) = (color, rectangle.graphene, rectangle.rounded(radius))
        gtk_snapshot_push_rounded_clip(snapshot, &rounded)
        gtk_snapshot_append_color(snapshot, &color, &bounds)
        gtk_snapshot_pop(snapshot)
    }

    private func drawRing(_ snapshot: OpaquePointer, _ rectangle: Rectangle, _ color: GdkRGBA) {
        var rounded = rectangle.rounded(5)
        var widths: [Float] = [2, 2, 2, 2]
        var colors = [color, color, color, color]
        gtk_snapshot_append_border(snapshot, &rounded, &widths, &colors)
    }
}
