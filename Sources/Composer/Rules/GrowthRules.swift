/// The maximum height of the text area, beyond which it scrolls.
public enum GrowthLimit: Hashable, Sendable, Codable {
    /// By window height: 4 lines below 568 pixels, 8 from 768, otherwise 6 (SLK-4).
    case byWindowHeight
    /// A number of lines; 0 grows up to the height of the window (SLK-4).
    case lines(Int)
    /// The window's height divided by this number (MIB-6).
    case fractionOfWindow(Double)
    /// The height of the text in pixels (MCV-3).
    case pixels(Double)
}

/// Insets in logical pixels around and within the text.
public struct ComposerInsets: Hashable, Sendable, Codable {
    /// Within the text area (SLK-6).
    public var textTop: Double
    public var textBottom: Double
    /// Around the row that contains the text and the buttons (SLK-13).
    public var rowTop: Double
    public var rowBottom: Double
    /// Between the bar and the bottom edge of the window. Not part of the bar's height, but of the space to reserve
    /// (MCV-2).
    public var bottomOffset: Double

    public init(
        textTop: Double = 8, textBottom: Double = 8, rowTop: Double = 5, rowBottom: Double = 5, bottomOffset: Double = 0
    ) {
        self.textTop = textTop
        self.textBottom = textBottom
        self.rowTop = rowTop
        self.rowBottom = rowBottom
        self.bottomOffset = bottomOffset
    }

    var total: Double { textTop + textBottom + rowTop + rowBottom }
    /// The total height, including the space below the bar.
    var outerHeight: Double { total + max(0, bottomOffset) }
}

/// The height calculations of the composer as pure functions, testable without a window (SLK-4, SLK-5, SLK-58).
public enum GrowthRules {
    /// The height of the edit bar in pixels (SLK-16).
    public static let editBarHeight = 38.0
    /// Larger than any screen; bounds the conversion to `Int`.
    static let maxMeasure = 1_000_000.0

    /// Returns the number of lines in a text of the given height, at least 1 (SLK-5).
    ///
    /// - Parameters:
    ///   - contentHeight: the height of the text including its insets, in pixels.
    ///   - lineHeight: the height of a line in pixels; the result is 1 if it isn't positive.
    public static func lineCount(contentHeight: Double, insets: ComposerInsets, lineHeight: Double) -> Int {
        guard lineHeight > 0, contentHeight.isFinite else { return 1 }
        let lines = (abs(contentHeight - insets.textTop - insets.textBottom) / lineHeight).rounded(.down)
        return max(1, Int(min(lines, maxMeasure)))
    }

    /// Returns the maximum number of visible lines, at least 1.
    ///
    /// - Parameters:
    ///   - windowHeight: in pixels; the bar never exceeds it, regardless of the limit.
    ///   - chrome: the height of the bar without the lines, in pixels.
    ///   - textScale: the user's text scaling factor; larger text gets fewer lines (SLK-58).
    public static func maxLines(
        _ limit: GrowthLimit, windowHeight: Double, lineHeight: Double, chrome: Double, textScale: Double = 1
    ) -> Int {
        guard lineHeight > 0 else { return 1 }
        let fitting = max(1, whole((windowHeight - chrome) / lineHeight))
        switch limit {
        case .byWindowHeight:
            let lines = windowHeight < 568 ? 4 : windowHeight >= 768 ? 8 : 6
            return min(fitting, scaledLines(lines, textScale: textScale))
        case .lines(let lines):
            return lines <= 0 ? fitting : min(fitting, scaledLines(lines, textScale: textScale))
        case .fractionOfWindow(let divisor):
            guard divisor > 0 else { return fitting }
            return min(fitting, max(1, whole((windowHeight / divisor).rounded(.down) / lineHeight)))
        case .pixels(let height):
            return min(fitting, max(1, whole(height / lineHeight)))
        }
    }

    /// `lines` − floor(`lines` × (`textScale` − 1)), with the factor clamped to ±0.75 (SLK-58).
    public static func scaledLines(_ lines: Int, textScale: Double) -> Int {
        guard textScale.isFinite else { return max(1, lines) }
        let factor = min(max(textScale - 1, -0.75), 0.75)
        return max(1, lines - Int((Double(min(lines, 1_000_000)) * factor).rounded(.down)))
    }

    /// Returns the height of the bar in pixels, rounded (SLK-5).
    ///
    /// - Parameters:
    ///   - lines: the number of visible lines, at least 1.
    ///   - underHeight: the height of the content below the text (SLK-12).
    ///   - editing: whether the edit bar is visible, which adds ``editBarHeight``.
    public static func barHeight(
        lines: Int, lineHeight: Double, insets: ComposerInsets, underHeight: Double = 0, editing: Bool = false
    ) -> Int {
        var height = lineHeight + insets.total + underHeight
        if lines > 1 { height += (lineHeight * Double(lines)).rounded() - lineHeight }
        if editing { height += editBarHeight }
        return whole(height.rounded())
    }

    private static func whole(_ value: Double) -> Int {
        guard !value.isNaN else { return 0 }
        return Int(min(max(value, 0), maxMeasure * 1000))
    }
}

/// The measurements that the window passes to the composer.
public struct ComposerLayout: Hashable, Sendable {
    /// In logical pixels.
    public var windowHeight: Double
    /// The height of a line in logical pixels.
    public var lineHeight: Double
    /// The number of lines as currently wrapped; `nil` if the window doesn't know, in which case line breaks are
    /// counted.
    public var lines: Int?
    /// The height of the content below the text: formatting bar, reply preview.
    public var underHeight: Double
    /// The user's text scaling factor; 1 for none.
    public var textScale: Double

    public init(
        windowHeight: Double, lineHeight: Double, lines: Int? = nil, underHeight: Double = 0, textScale: Double = 1
    ) {
        self.windowHeight = windowHeight
        self.lineHeight = lineHeight
        self.lines = lines
        self.underHeight = underHeight
        self.textScale = textScale
    }

    /// The defaults until the window measures: 720 pixels high, with lines of 20.
    public static let initial = ComposerLayout(windowHeight: 720, lineHeight: 20)
}
