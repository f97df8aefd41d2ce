import CGtk
import Composer
import GtkKit

/// Shows styles that Markdown does not have: colors, sizes, fonts (HKW-13 to HKW-16, SLK-35).
///
/// The buffer moves tags along with the text, so only ranges touched by an edit are retagged.
final class StyleTags {
    private struct Tagged: Equatable {
        let id: Span.ID
        let style: TextStyle
        /// The range of text that has the tag.
        var range: TextRange
    }

    private let textView: TextView
    private let buffer: TextBuffer
    private var tags: [TextStyle: TextTag] = [:]
    private var tagged: [Tagged] = []

    init(textView: TextView, buffer: TextBuffer) {
        self.textView = textView
        self.buffer = buffer
    }

    // MARK: Following the document

    /// Adjusts the tagged ranges to an edit that is being applied, as the buffer does: text inserted within a tag
    /// inherits it, text inserted at its ends does not.
    func track(_ edit: AppliedEdit) {
        guard !tagged.isEmpty else { return }
        let location = edit.range.location
        let length = edit.replacement.utf16.count
        func afterDeletion(_ offset: Int) -> Int {
            offset <= location ? offset : max(location, offset - edit.range.length)
        }
        tagged = tagged.compactMap { old in
            var start = afterDeletion(old.range.location)
            var end = afterDeletion(old.range.end)
            guard start < end else { return nil }
            if location <= start { start += length }
            if location < end { end += length }
            var tagged = old
            tagged.range = TextRange(start: start, end: end)
            return tagged
        }
    }

    /// Tags newly styled ranges, and untags those that have lost their style.
    func update(_ document: ComposerDocument) {
        let updated = document.spans.compactMap { span in
            span.style.map { Tagged(id: span.id, style: $0, range: span.range) }
        }
        guard !updated.isEmpty || !tagged.isEmpty else { return }
        guard updated != tagged else { return }
        for old in tagged {
            for range in old.range.ranges(outside: Self.range(of: old, in: updated)) {
                tags[old.style]?.remove(from: scalars(range, document), in: buffer)
            }
        }
        for new in updated {
            for range in new.range.ranges(outside: Self.range(of: new, in: tagged)) {
                tag(for: new.style)?.apply(to: scalars(range, document), in: buffer)
            }
        }
        tagged = updated
    }

    private static func range(of one: Tagged, in others: [Tagged]) -> TextRange? {
        others.first { $0.id == one.id && $0.style == one.style }?.range
    }

    private func scalars(_ range: TextRange, _ document: ComposerDocument) -> Range<Int> {
        let start = document.scalarOffset(ofUTF16: range.location)
        return start..<max(start, document.scalarOffset(ofUTF16: range.end))
    }

    // MARK: Appearance

    /// - Returns: `nil` for a style without a visual representation.
    private func tag(for style: TextStyle) -> TextTag? {
        if let tag = tags[style] { return tag }
        let tag = TextTag(in: buffer)
        guard Self.apply(style, on: tag) else { return nil }
        tags[style] = tag
        return tag
    }

    /// Clamps numbers to legible values: they may come from any draft or clipboard.
    private static func apply(_ style: TextStyle, on tag: TextTag) -> Bool {
        func pixels(_ number: Double) -> Int {
            Int((number.isFinite ? min(max(number, -64), 64) : 0) * Double(PANGO_SCALE))
        }
        switch style {
        case .bold: tag.setBold()
        case .italic: tag.setItalic()
        case .underline, .link: tag.setUnderlined()
        case .strikethrough: tag.setProperty("strikethrough", true)
        case .monospace: tag.setProperty("family", "monospace")
        case .foreground(let name), .background(let name):
            guard let color = GdkRGBA(name) else { return false }
            if case .foreground = style {
                tag.setProperty("foreground-rgba", color)
            } else {
                tag.setProperty("background-rgba", color)
            }
        case .scale(let factor): tag.setProperty("scale", factor.isFinite ? min(max(factor, 0.5), 3) : 1)
        case .family(let name): tag.setProperty("family", name)
        case .fontFeatures(let features): tag.setProperty("font-features", features)
        case .letterSpacing(let spacing): tag.setProperty("letter-spacing", pixels(spacing))
        case .rise(let rise): tag.setProperty("rise", pixels(rise))
        case .named: return false
        }
        return true
    }
}

extension TextRange {
    /// The parts of this range that are outside `other`.
    fileprivate func ranges(outside other: TextRange?) -> [TextRange] {
        guard let other, intersects(other) else { return [self] }
        let head = TextRange(start: location, end: max(location, other.location))
        let tail = TextRange(start: min(end, other.end), end: end)
        return [head, tail].filter { !$0.isEmpty }
    }
}
