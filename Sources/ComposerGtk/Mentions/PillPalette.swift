import CGtk
import GtkKit

/// The theme's colors for pills: light, dark or high contrast.
struct PillPalette: Equatable {
    /// The appearance of one pill.
    struct Style {
        var fill: GdkRGBA
        var border: GdkRGBA
        /// In pixels; 0 for no border.
        var borderWidth: Double

        /// How far a pill extends beyond its text on either side, in pixels.
        private static let overhang = 2.0
        private static let radius = 6.0

        func draw(_ rectangle: GdkRectangle, _ snapshot: Snapshot) {
            let outline = Snapshot.Rectangle(
                x: Double(rectangle.x) - Self.overhang, y: Double(rectangle.y),
                width: Double(rectangle.width) + 2 * Self.overhang, height: Double(rectangle.height))
            snapshot.fill(outline, radius: Self.radius, fill)
            if borderWidth > 0 { snapshot.stroke(outline, radius: Self.radius, width: borderWidth, border) }
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
            widget.namedColor(name) ?? fallback
        }
        accent = look(up: "accent_bg_color", accent)
        text = look(up: "parlance_accent_text", text)
        ownMentionText = look(up: "accent_fg_color", ownMentionText)
        isHighContrast = StyleManager.isHighContrast
    }

    func style(isOwn: Bool, isHighlighted: Bool) -> Style {
        var fill = accent
        // Mentions of the user are filled, others tinted.
        fill.alpha = isOwn ? 1 : isHighlighted ? 0.35 : 0.15
        let width: Double = isHighlighted ? 2 : isHighContrast ? 1 : 0
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
