import CGtk

/// The formatting of text ranges in labels and layouts. Ranges count UTF-8 bytes.
@MainActor public final class TextAttributes {
    let list: OpaquePointer

    public init() {
        list = pango_attr_list_new()
    }

    // Needs the class's explicit @MainActor in optimized builds, see Object.
    isolated deinit { pango_attr_list_unref(list) }

    public enum Format: Sendable {
        case semibold, bold, italic, underlined, struckThrough, monospace
        case scaled(Double)
        /// Above the baseline, in points.
        case raised(Int)
        case foreground(red: UInt16, green: UInt16, blue: UInt16)
        case background(red: UInt16, green: UInt16, blue: UInt16)
        case backgroundAlpha(UInt16)

        fileprivate var pango: UnsafeMutablePointer<PangoAttribute>? {
            switch self {
            case .semibold: pango_attr_weight_new(PANGO_WEIGHT_SEMIBOLD)
            case .bold: pango_attr_weight_new(PANGO_WEIGHT_BOLD)
            case .italic: pango_attr_style_new(PANGO_STYLE_ITALIC)
            case .underlined: pango_attr_underline_new(PANGO_UNDERLINE_SINGLE)
            case .struckThrough: pango_attr_strikethrough_new(1)
            case .monospace: pango_attr_family_new("monospace")
            case .scaled(let scale): pango_attr_scale_new(scale)
            case .raised(let points): pango_attr_rise_new(gint(points) * PANGO_SCALE)
            case .foreground(let red, let green, let blue): pango_attr_foreground_new(red, green, blue)
            case .background(let red, let green, let blue): pango_attr_background_new(red, green, blue)
            case .backgroundAlpha(let alpha): pango_attr_background_alpha_new(alpha)
            }
        }
    }

    public func add(_ format: Format, to range: Range<Int>) {
        guard let attribute = format.pango else { return }
        attribute.pointee.start_index = guint(clamping: range.lowerBound)
        attribute.pointee.end_index = guint(clamping: range.upperBound)
        pango_attr_list_insert(list, attribute)
    }
}
