import CGtk
import ChatCore
import GtkKit

extension BodyText {
    /// The colours to draw in now. They follow the theme, so each drawing asks.
    var currentPalette: TextAttributes.Palette {
        let style = gtk_widget_get_style_context(cast())
        var text = GdkRGBA(red: 0, green: 0, blue: 0, alpha: 1)
        gtk_style_context_get_color(style, &text)
        var accent = text
        _ = gtk_style_context_lookup_color(style, "accent_color", &accent)
        let isHighContrast = adw_style_manager_get_high_contrast(adw_style_manager_get_default()) != 0
        return TextAttributes.Palette(text: BodyColor(text), accent: BodyColor(accent), isHighContrast: isHighContrast)
    }

    /// Pills, code and coloured grounds, below the text.
    func drawChips(_ snapshot: OpaquePointer, _ layout: Object, _ palette: TextAttributes.Palette) {
        struct Ground: Equatable {
            var color: BodyColor?
            var alpha: Float = 0
            var radius: Float = 0
        }
        let grounds = content.text.ranges { run -> Ground in
            if run.mention != nil { return Ground(color: palette.accent, alpha: 0.16, radius: 9) }
            if run.style.contains(.code) { return Ground(color: palette.text, alpha: 0.09, radius: 4) }
            guard let color = run.background, !palette.isHighContrast else { return Ground() }
            return Ground(color: color, alpha: 1, radius: 3)
        }
        for (ground, range) in grounds {
            guard let color = ground.color else { continue }
            for part in rectangles(of: range, in: layout) {
                draw(snapshot, part.insetBy(-TextContent.chipInset), color.rgba(alpha: ground.alpha), ground.radius)
            }
        }
    }

    /// Covers over spoilers, and the ring around what a key would act on.
    func drawCovers(_ snapshot: OpaquePointer, _ layout: Object, _ palette: TextAttributes.Palette) {
        let cover = BodyColor(hexadecimal: palette.isDark ? "#68676c" : "#8b8a91") ?? palette.text
        for index in actions.indices where isCovered(index) {
            for part in rectangles(of: actions[index].range, in: layout) {
                // Descenders of other styles may reach below the line.
                var place = part.insetBy(-1)
                place.height += 3
                draw(snapshot, place, cover.rgba(), 4)
            }
        }
        guard let currentAction, actions.indices.contains(currentAction), gtk_widget_has_visible_focus(cast()) != 0
        else { return }
        for part in rectangles(of: actions[currentAction].range, in: layout) {
            drawRing(snapshot, part.insetBy(-TextContent.chipInset), palette.accent.rgba(alpha: 0.8))
        }
    }

    func drawSelection(_ range: Range<Int>, _ layout: Object, _ snapshot: OpaquePointer) {
        var color = GdkRGBA(red: 0.2, green: 0.5, blue: 0.9, alpha: 1)
        _ = gtk_style_context_lookup_color(gtk_widget_get_style_context(cast()), "accent_bg_color", &color)
        color.alpha = 0.35
        for part in rectangles(of: range, in: layout) {
            var bounds = part.graphene
            gtk_snapshot_append_color(snapshot, &color, &bounds)
        }
    }

    /// Where a stretch of the text stands, a rectangle a line and direction, in pixels.
    func rectangles(of range: Range<Int>, in layout: Object) -> [Rectangle] {
        guard !range.isEmpty else { return [] }
        var ranges = [Int32(range.lowerBound), Int32(range.upperBound)]
        guard let region = gdk_pango_layout_get_clip_region(layout.cast(), 0, 0, &ranges, 1) else { return [] }
        defer { cairo_region_destroy(region) }
        return (0..<cairo_region_num_rectangles(region)).map { index in
            var part = cairo_rectangle_int_t()
            cairo_region_get_rectangle(region, index, &part)
            return Rectangle(
                x: Double(part.x), y: Double(part.y), width: Double(part.width), height: Double(part.height))
        }
    }

    /// In pixels of the widget.
    struct Rectangle {
        var x: Double
        var y: Double
        var width: Double
        var height: Double

        /// Narrower on both sides; wider for a negative inset. The height stays, lines lie close.
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

    private func draw(_ snapshot: OpaquePointer, _ place: Rectangle, _ color: GdkRGBA, _ radius: Float) {
        var (color, bounds, rounded) = (color, place.graphene, place.rounded(radius))
        gtk_snapshot_push_rounded_clip(snapshot, &rounded)
        gtk_snapshot_append_color(snapshot, &color, &bounds)
        gtk_snapshot_pop(snapshot)
    }

    private func drawRing(_ snapshot: OpaquePointer, _ place: Rectangle, _ color: GdkRGBA) {
        var rounded = place.rounded(5)
        var widths: [Float] = [2, 2, 2, 2]
        var colors = [color, color, color, color]
        gtk_snapshot_append_border(snapshot, &rounded, &widths, &colors)
    }
}
