import CGtk
import ChatCore
import Glibc
import GtkKit

/// Converts a text's formatting to Pango attributes.
struct BodyAttributes {
    /// The theme's colors.
    struct Palette: Equatable {
        var text: BodyColor
        var accent: BodyColor
        /// Whether colors chosen by senders are ignored.
        var isHighContrast: Bool

        var isDark: Bool { text.luminance > 0.5 }
    }

    private let palette: Palette
    private let attributes = TextAttributes()

    static func make(_ content: TextContent, palette: Palette) -> TextAttributes {
        let body = BodyAttributes(palette: palette)
        let whole = 0..<content.text.runs.reduce(0) { $0 + $1.text.utf8.count }
        if content.scale != 1 { body.add(.scaled(content.scale), whole) }
        if content.isBold { body.add(.bold, whole) }
        if content.isCode { body.add(.monospace, whole) }
        var offset = 0
        for run in content.text.runs {
            let range = offset..<offset + run.text.utf8.count
            offset = range.upperBound
            body.add(run, range)
        }
        for highlight in content.highlights { body.add(highlight) }
        return body.attributes
    }

    private func add(_ run: InlineRun, _ range: Range<Int>) {
        guard run.isFormatted else { return }
        if run.style.contains(.bold) { add(.bold, range) }
        if run.style.contains(.italic) { add(.italic, range) }
        if run.style.contains(.strike) { add(.struckThrough, range) }
        if run.style.contains(.code) {
            add(.monospace, range)
            add(.scaled(0.93), range)
        }
        if run.style.contains(.superscript) { addRaised(1, range) }
        if run.style.contains(.subscript) { addRaised(-1, range) }
        if run.mention != nil {
            add(.semibold, range)
            addColor(palette.accent, range)
        } else if run.link != nil || run.image != nil {
            addColor(palette.accent, range)
            if run.link != nil { add(.underlined, range) }
        } else if let color = run.foreground, !palette.isHighContrast {
            addColor(run.background == nil ? color.legible(onDark: palette.isDark) : color, range)
        }
        if run.style.contains(.underline), run.link == nil {
            add(.underlined, range)
        }
    }

    private func add(_ highlight: CodeHighlight) {
        if let color = highlight.color { addColor(color, highlight.range) }
        if highlight.isBold { add(.bold, highlight.range) }
        if highlight.isItalic { add(.italic, highlight.range) }
    }

    private func addRaised(_ direction: Int, _ range: Range<Int>) {
        add(.scaled(0.75), range)
        add(.raised(direction * 4), range)
    }

    private func addColor(_ color: BodyColor, _ range: Range<Int>) {
        let (red, green, blue) = (UInt16(color.red) * 257, UInt16(color.green) * 257, UInt16(color.blue) * 257)
        add(.foreground(red: red, green: green, blue: blue), range)
    }

    private func add(_ format: TextAttributes.Format, _ range: Range<Int>) { attributes.add(format, to: range) }
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
