import CGtk
import ChatCore
import ChatViewModels
import GtkKit

extension BodyText {
    /// The current colors. They follow the theme, so they are read for each drawing.
    var currentPalette: BodyAttributes.Palette {
        let text = color
        return BodyAttributes.Palette(
            text: BodyColor(text), accent: BodyColor(namedColor("parlance_accent_text") ?? text),
            isHighContrast: StyleManager.isHighContrast)
    }

    /// Draws the backgrounds of pills, code and colored text, below the text.
    func drawChips(_ snapshot: Snapshot, _ layout: TextLayout, _ palette: BodyAttributes.Palette) {
        struct Background: Equatable {
            var color: BodyColor?
            var alpha: Float = 0
            var radius = 0.0
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
                snapshot.fill(
                    rectangle.insetBy(-TextContent.chipInset), radius: background.radius,
                    color.rgba(alpha: background.alpha))
            }
        }
    }

    /// Draws covers over spoilers, and the focus ring around the current action.
    func drawCovers(_ snapshot: Snapshot, _ layout: TextLayout, _ palette: BodyAttributes.Palette) {
        let cover = BodyColor(hexadecimal: palette.isDark ? "#68676c" : "#8b8a91") ?? palette.text
        for index in actions.indices where isCovered(index) {
            for rectangle in rectangles(of: actions[index].range, in: layout) {
                // Glyphs in other styles may extend below the line.
                var frame = rectangle.insetBy(-1)
                frame.height += 3
                snapshot.fill(frame, radius: 4, cover.rgba())
            }
        }
        guard let currentAction, actions.indices.contains(currentAction), hasVisibleFocus else { return }
        for rectangle in rectangles(of: actions[currentAction].range, in: layout) {
            snapshot.stroke(
                rectangle.insetBy(-TextContent.chipInset), radius: 5, width: 2, palette.accent.rgba(alpha: 0.8))
        }
    }

    /// Draws the matches of a search, below the text.
    func drawHighlights(_ snapshot: Snapshot, _ layout: TextLayout) {
        guard !highlightedRanges.isEmpty else { return }
        var color = namedColor("warning_bg_color") ?? GdkRGBA(red: 0.9, green: 0.65, blue: 0, alpha: 1)
        color.alpha = 0.45
        for range in highlightedRanges {
            for rectangle in rectangles(of: range, in: layout) {
                snapshot.fill(rectangle.insetBy(-1), radius: 3, color)
            }
        }
    }

    func drawSelection(_ range: Range<Int>, _ layout: TextLayout, _ snapshot: Snapshot) {
        var color = namedColor("accent_bg_color") ?? GdkRGBA(red: 0.2, green: 0.5, blue: 0.9, alpha: 1)
        color.alpha = 0.35
        for rectangle in rectangles(of: range, in: layout) { snapshot.fill(rectangle, color) }
    }

    /// The rectangles that a range of text covers, one per line and direction run, in pixels. Excludes spaces at which
    /// a line is wrapped: Pango extends them to the layout's edge.
    func rectangles(of range: Range<Int>, in layout: TextLayout) -> [Snapshot.Rectangle] {
        guard !range.isEmpty else { return [] }
        var result: [Snapshot.Rectangle] = []
        layout.forEachLine { line in
            guard line.start < range.upperBound else { return false }
            let lineRange = range.clamped(to: line.start..<endOfLine(from: line.start, length: line.length))
            guard !lineRange.isEmpty else { return true }
            result += line.extents(of: lineRange).map { left, right in
                Snapshot.Rectangle(
                    x: left.rounded(.down), y: line.top.rounded(.down), width: right.rounded(.up) - left.rounded(.down),
                    height: (line.bottom - line.top).rounded(.up))
            }
            return true
        }
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
}

extension Snapshot.Rectangle {
    /// Insets the left and right edges; a negative inset widens the rectangle. Keeps the height, because lines are
    /// close.
    fileprivate func insetBy(_ inset: Double) -> Snapshot.Rectangle {
        Snapshot.Rectangle(x: x + inset, y: y, width: width - 2 * inset, height: height)
    }
}
