import CGtk
import GtkKit

/// The theme's colors for pills: light, dark or high contrast.
struct PillPalette: Equatable {
    /// The appearance of one pill.
    struct Style {
        var fill: GdkRGBA
        var border: GdkRGBA
        /// In pixels; 0 for no border.
        var borderWidth: Float

        /// How far a pill extends beyond its text on either side, in pixels.
        private static let overhang: Float = 2
        private static let radius: Float = 6

        func draw(_ rectangle: GdkRectangle, _ snapshot: OpaquePointer) {
            var bounds = graphene_rect_t(
                origin: graphene_point_t(x: Float(rectangle.x) - Self.overhang, y: Float(rectangle.y)),
                size: graphene_size_t(
                    width: Float(rectangle.width) + 2 * Self.overhang, height: Float(rectangle.height)))
            var outline = GskRoundedRect()
            gsk_rounded_rect_init_from_rect(&outline, &bounds, Self.radius)
            var fill = fill
            gtk_snapshot_push_rounded_clip(snapshot, &outline)
            gtk_snapshot_append_color(snapshot, &fill, &bounds)
            gtk_snapshot_pop(snapshot)
            guard borderWidth > 0 else { return }
            var widths = [Float](repeating: borderWidth, count: 4)
            var colors = [GdkRGBA](repeating: border, count: 4)
            gtk_snapshot_append_border(snapshot, &outline, &widths, &colors)
        }
    }

    private var accent = GdkRGBA(red: 0.2, green: 0.5, blue: 0.9, alpha: 1)
    private var isHighContrast = false
    /// The text color of a mention.
    private(set) var text = GdkRGBA(red: 0.1, green: 0.4, blue: 0.8, alpha: 1)
    /// The text color of a mention of the user.
    private(set) var ownMentionText = GdkRGBA(red: 1, green: 1, blue: 1, alpha: 1)

    init() {}

    init(of widget: Widget) {
        func look(up name: String, _ fallback: GdkRGBA) -> GdkRGBA {
            var color = GdkRGBA()
            return shim_named_color(widget.pointer, name, &color) != 0 ? color : fallback
        }
        accent = look(up: "accent_bg_color", accent)
        text = look(up: "accent_color", text)
        ownMentionText = look(up: "accent_fg_color", ownMentionText)
        isHighContrast = adw_style_manager_get_high_contrast(adw_style_manager_get_default()) != 0
    }

    func style(isOwn: Bool, isHighlighted: Bool) -> Style {
        var fill = accent
        // Mentions of the user are filled, others tinted.
        fill.alpha = isOwn ? 1 : isHighlighted ? 0.35 : 0.15
        let width: Float = isHighlighted ? 2 : isHighContrast ? 1 : 0
        return Style(fill: fill, border: isOwn && isHighlighted ? ownMentionText : text, borderWidth: width)
    }

    static func == (left: PillPalette, right: PillPalette) -> Bool {
        func same(_ a: GdkRGBA, _ b: GdkRGBA) -> Bool {
            a.red == b.red && a.green == b.green && a.blue == b.blue && a.alpha == b.alpha
        }
        return same(left.accent, right.accent) && same(left.text, right.text)
            && same(left.ownMentionText, right.ownMentionText)
            && left.isHighContrast == right.isHighContrast
    }
}
