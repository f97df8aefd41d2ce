/// How far the text area grows before it scrolls inside.
public enum GrowthLimit: Hashable, Sendable, Codable {
    /// By the window's height: 4 lines below 568 pixels, 8 from 768, else 6 (SLK-4).
    case byWindowHeight
    /// A number of lines; 0 grows up to the window (SLK-4).
    case lines(Int)
    /// The window's height divided by this number (MIB-6).
    case fractionOfWindow(Double)
    /// A height of the text in pixels (MCV-3).
    case pixels(Double)
}

/// Distances in logical pixels around and within the text.
public struct ComposerInsets: Hashable, Sendable, Codable {
    /// Above and below the text, within the text area (SLK-6).
    public var textTop: Double
    public var textBottom: Double
    /// Around the row of text and buttons (SLK-13).
    public var rowTop: Double
    public var rowBottom: Double
    /// Between the bar and the window's lower edge: no part of the bar's height, but of what it must leave free (MCV-2).
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
    /// With what lies beneath the bar.
    var outerHeight: Double { total + max(0, bottomOffset) }
}

/// The heights of the composer as pure functions, so that no window is needed to test them (SLK-4, SLK-5, SLK-58).
public enum GrowthRules {
    /// The height of the bar that says what is being edited (SLK-16), in pixels.
    public static let editBarHeight = 38.0
    /// Larger than any screen; keeps absurd measures from leaving the range of Int.
    static let maxMeasure = 1_000_000.0

    /// The lines that a text of a given height has, at least 1 (SLK-5).
    ///
    /// - Parameters:
    ///   - contentHeight: the text's height with its insets, in pixels.
    ///   - lineHeight: of one line, in pixels; not positive counts as one line.
    public static func lineCount(contentHeight: Double, insets: ComposerInsets, lineHeight: Double) -> Int {
        guard lineHeight > 0, contentHeight.isFinite else { return 1 }
        let lines = (abs(contentHeight - insets.textTop - insets.textBottom) / lineHeight).rounded(.down)
        return max(1, Int(min(lines, maxMeasure)))
    }

    /// The most lines that are shown at once, at least 1.
    ///
    /// - Parameters:
    ///   - windowHeight: in pixels; the bar never outgrows it, whatever the limit says.
    ///   - chrome: what the bar needs beside the lines, in pixels.
    ///   - textScale: the user's factor on text, 1 being none: larger text gets fewer lines (SLK-58).
    public static func maximumLines(
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

    /// SLK-58: lines less floor(lines × factor), the factor being held within ±0.75.
    public static func scaledLines(_ lines: Int, textScale: Double) -> Int {
        guard textScale.isFinite else { return max(1, lines) }
        let factor = min(max(textScale - 1, -0.75), 0.75)
        return max(1, lines - Int((Double(min(lines, 1_000_000)) * factor).rounded(.down)))
    }

    /// The height of the whole bar in pixels, rounded (SLK-5).
    ///
    /// - Parameters:
    ///   - lines: the lines shown, at least 1.
    ///   - underHeight: of what stands under the text (SLK-12).
    ///   - editing: whether the edit bar is shown, which adds 38.
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

/// The sizes that the window tells the composer.
public struct ComposerLayout: Hashable, Sendable {
    /// In logical pixels.
    public var windowHeight: Double
    /// Of one line of text, in logical pixels.
    public var lineHeight: Double
    /// The lines that the text has as it is wrapped now; nil if the window can't tell, and line breaks are counted.
    public var lines: Int?
    /// Of what stands under the text: formatting bar, reply preview.
    public var underHeight: Double
    /// The user's factor on text; 1 is none.
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

    /// What is assumed until the window tells: 720 pixels, lines of 20.
    public static let initial = ComposerLayout(windowHeight: 720, lineHeight: 20)
}
