import CGtk
import Composer
import GtkKit

/// Styles Markdown in the buffer while typing: dims delimiters, and shows emphasis, code and so on. Never changes the
/// text. An edit restyles the paragraphs it touches, and those after it until the state of code fences matches again.
final class MarkdownStyler {
    /// Can be toggled at any time by a setting.
    var isEnabled = true {
        didSet { if isEnabled != oldValue { styleAll() } }
    }
    /// Whether the text is not Markdown, in which case nothing is styled.
    var isPlain = false {
        didSet { if isPlain != oldValue { styleAll() } }
    }
    private var isActive: Bool { isEnabled && !isPlain }

    private let textView: TextView
    private let buffer: TextBuffer
    private var styling: MarkdownStyling
    private let tags: [MarkdownStyling.Style: TextTag]
    /// Whether any tag has been applied. Until then, a paragraph without delimiters only costs a scan of its bytes.
    private var hasStyled = false

    init(textView: TextView, buffer: TextBuffer, rules: [MarkdownRule]) {
        self.textView = textView
        self.buffer = buffer
        styling = MarkdownStyling(rules: rules)
        var tags: [MarkdownStyling.Style: TextTag] = [:]
        for textStyle in MarkdownStyling.Style.allCases { tags[textStyle] = TextTag(in: buffer) }
        self.tags = tags
        configureTags()
    }

    private func configureTags() {
        tags[.bold]?.setBold()
        tags[.italic]?.setItalic()
        tags[.strike]?.setProperty("strikethrough", true)
        for textStyle in [MarkdownStyling.Style.code, .codeBlock] {
            tags[textStyle]?.setProperty("family", "monospace")
        }
        tags[.link]?.setUnderlined()
        styleChanged()
    }

    /// Updates the tags with the theme's colors.
    func styleChanged() {
        let color = textView.color
        func faded(_ alpha: Float) -> GdkRGBA {
            GdkRGBA(red: color.red, green: color.green, blue: color.blue, alpha: color.alpha * alpha)
        }
        // A contrast of 4.5 : 1 on the bar.
        tags[.marker]?.setProperty("foreground-rgba", faded(StyleManager.isHighContrast ? 0.9 : 0.7))
        tags[.quote]?.setProperty("foreground-rgba", faded(StyleManager.isHighContrast ? 1 : 0.8))
        tags[.code]?.setProperty("background-rgba", faded(0.08))
        tags[.codeBlock]?.setProperty("paragraph-background-rgba", faded(0.08))
    }

    // MARK: Following edits

    /// Styles the paragraphs of an edited range.
    /// - Parameter range: In Unicode scalars; empty after a deletion.
    func edited(_ range: Range<Int>) {
        guard isActive else { return }
        var start = buffer.iterator(at: range.lowerBound)
        let last = buffer.iterator(at: range.upperBound).line
        start.moveToLineStart()
        var line = start.line
        var isInFence = fence(before: start)
        while true {
            let wasOpen = fence(at: line)
            isInFence = style(line, isInFence: isInFence)
            line += 1
            let isBehind = line > last && isInFence == wasOpen
            if isBehind || line >= buffer.lineCount { return }
        }
    }

    private func styleAll() {
        let end = buffer.scalarCount
        guard isActive else {
            for tag in tags.values { tag.remove(from: 0..<end, in: buffer) }
            return
        }
        edited(0..<end)
    }

    /// - Returns: Whether a code fence is open after the line.
    private func style(_ line: Int, isInFence: Bool) -> Bool {
        let start = buffer.iterator(atLine: line)
        var end = start
        end.moveToLineEnd()
        let text = start.slice(to: end)
        guard hasStyled || isInFence || text.utf8.contains(where: Self.isSymbol) else { return false }
        let first = start.offset
        var next = end
        next.moveToNextLine()
        let behind = next.offset
        if hasStyled { for tag in tags.values { tag.remove(from: first..<behind, in: buffer) } }
        let (runs, isOpen) = styling.runs(in: text, isInFence: isInFence)
        let offsets = ScalarOffsets(text)
        for run in runs {
            let range = first + offsets[run.range.location]..<first + offsets[run.range.end]
            tags[run.style]?.apply(to: range, in: buffer)
            hasStyled = true
        }
        // The tag on the line break records that the block continues, even on an empty line.
        if isOpen {
            tags[.codeBlock]?.apply(to: end.offset..<behind, in: buffer)
            hasStyled = true
        }
        return isOpen
    }

    private static func isSymbol(_ byte: UInt8) -> Bool { symbols.contains(byte) }
    private static let symbols: Set<UInt8> = Set("*_~`>[-".utf8)

    // MARK: Fences

    /// Whether a code fence is open at the start of the line, as recorded on the preceding line break.
    private func fence(before start: TextIterator) -> Bool {
        var previous = start
        guard hasStyled, previous.moveBackward() else { return false }
        return hasBlockTag(previous)
    }

    /// Whether a code fence was open after the line when it was last styled.
    private func fence(at line: Int) -> Bool {
        guard hasStyled else { return false }
        var end = buffer.iterator(atLine: line)
        end.moveToLineEnd()
        return hasBlockTag(end)
    }

    private func hasBlockTag(_ place: TextIterator) -> Bool {
        tags[.codeBlock].map { place.hasTag($0) } ?? false
    }
}

/// Converts UTF-16 offsets in a line to Unicode scalars. Stores nothing if they coincide.
private struct ScalarOffsets {
    private var scalars: [Int] = []

    init(_ text: String) {
        guard text.unicodeScalars.contains(where: { $0.value > 0xFFFF }) else { return }
        scalars.reserveCapacity(text.utf16.count + 1)
        for (index, scalar) in text.unicodeScalars.enumerated() {
            for _ in 0..<UTF16.width(scalar) { scalars.append(index) }
        }
        scalars.append(text.unicodeScalars.count)
    }

    subscript(offset: Int) -> Int { scalars.isEmpty ? offset : scalars[offset] }
}
