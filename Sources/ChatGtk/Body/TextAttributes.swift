import CGtk
import ChatCore
import Glibc
import GtkKit

/// Converts a text's formatting to Pango attributes.
struct TextAttributes {
    /// The theme's colors.
    struct Palette: Equatable {
        var text: BodyColor
        var accent: BodyColor
        /// Whether colors chosen by senders are ignored.
        var isHighContrast: Bool

        var isDark: Bool { text.luminance > 0.5 }
    }

    private let palette: Palette
    private let list = pango_attr_list_new()

    /// - Returns: A list owned by the caller.
    static func make(_ content: TextContent, revealed: Set<Int>, palette: Palette) -> OpaquePointer? {
        let attributes = TextAttributes(palette: palette)
        let whole = 0..<content.text.runs.reduce(0) { $0 + $1.text.utf8.count }
        if content.scale != 1 { attributes.add(pango_attr_scale_new(content.scale), whole) }
        if content.isBold { attributes.add(pango_attr_weight_new(PANGO_WEIGHT_BOLD), whole) }
        if content.isCode { attributes.add(pango_attr_family_new("monospace"), whole) }
        var offset = 0
        for run in content.text.runs {
            let range = offset..<offset + run.text.utf8.count
            offset = range.upperBound
            attributes.add(run, range)
        }
        for highlight in content.highlights { attributes.add(highlight) }
        return attributes.list
    }

    private func add(_ run: InlineRun, _ range: Range<Int>) {
        guard run.isFormatted else { return }
        if run.style.contains(.bold) { add(pango_attr_weight_new(PANGO_WEIGHT_BOLD), range) }
        if run.style.contains(.italic) { add(pango_attr_style_new(PANGO_STYLE_ITALIC), range) }
        if run.style.contains(.strike) { add(pango_attr_strikethrough_new(1), range) }
        if run.style.contains(.code) {
            add(pango_attr_family_new("monospace"), range)
            add(pango_attr_scale_new(0.93), range)
        }
        if run.style.contains(.superscript) { addRaised(1, range) }
        if run.style.contains(.subscript) { addRaised(-1, range) }
        if run.mention != nil {
            add(pango_attr_weight_new(PANGO_WEIGHT_SEMIBOLD), range)
            addColor(palette.accent, range)
        } else if run.link != nil || run.image != nil {
            addColor(palette.accent, range)
            if run.link != nil { add(pango_attr_underline_new(PANGO_UNDERLINE_SINGLE), range) }
        } else if let color = run.foreground, !palette.isHighContrast {
            addColor(run.background == nil ? color.legible(onDark: palette.isDark) : color, range)
        }
        if run.style.contains(.underline), run.link == nil {
            add(pango_attr_underline_new(PANGO_UNDERLINE_SINGLE), range)
        }
    }

    private func add(_ highlight: CodeHighlight) {
        if let color = highlight.color { addColor(color, highlight.range) }
        if highlight.isBold { add(pango_attr_weight_new(PANGO_WEIGHT_BOLD), highlight.range) }
        if highlight.isItalic { add(pango_attr_style_new(PANGO_STYLE_ITALIC), highlight.range) }
    }

    private func addRaised(_ direction: Int32, _ range: Range<Int>) {
        add(pango_attr_scale_new(0.75), range)
        add(pango_attr_rise_new(direction * 4 * PANGO_SCALE), range)
    }

    private func addColor(_ color: BodyColor, _ range: Range<Int>) {
        let components = [color.red, color.green, color.blue].map { guint16($0) * 257 }
        add(pango_attr_foreground_new(components[0], components[1], components[2]), range)
    }

    private func add(_ attribute: UnsafeMutablePointer<PangoAttribute>?, _ range: Range<Int>) {
        attribute?.pointee.start_index = guint(range.lowerBound)
        attribute?.pointee.end_index = guint(range.upperBound)
        pango_attr_list_insert(list, attribute)
    }
}

extension BodyColor {
    init(_ color: GdkRGBA) {
        let byte: (Float) -> UInt8 = { UInt8((min(max($0, 0), 1) * 255).rounded()) }
        self.init(red: byte(color.red), green: byte(color.green), blue: byte(color.blue))
    }

    func rgba(alpha: Float = 1) -> GdkRGBA {
        GdkRGBA(red: Float(red) / 255, green: Float(green) / 255, blue: Float(blue) / 255, alpha: alpha)
    }

    /// The relative luminance as defined by WCAG 2, from 0 to 1.
    var luminance: Double {
        let components = [red, green, blue].map { component -> Double in
            let value = Double(component) / 255
            return value <= 0.04045 ? value / 12.92 : Glibc.pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * components[0] + 0.7152 * components[1] + 0.0722 * components[2]
    }

    /// The color, darkened or lightened as needed to be legible on the theme's background.
    func legible(onDark isDark: Bool) -> BodyColor {
        var color = self
        for _ in 0..<12 where isDark ? color.luminance < 0.22 : color.luminance > 0.22 {
            color = color.mixed(with: isDark ? 255 : 0)
        }
        return color
    }

    private func mixed(with other: UInt8) -> BodyColor {
        let mix: (UInt8) -> UInt8 = { UInt8((Int($0) * 4 + Int(other)) / 5) }
        return BodyColor(red: mix(red), green: mix(green), blue: mix(blue))
    }
}
