import CGtk
import Composer
import GtkKit

/// Underlines misspelled words. An underline moves no glyph, and the tag also informs assistive technology.
///
/// The buffer moves tags along with the text; the engine reports which words have become correct or misspelled.
final class SpellingTags {
    private let textView: TextView
    private let buffer: TextBuffer
    /// `nil` until a word is misspelled.
    private var tag: TextTag?

    init(textView: TextView, buffer: TextBuffer) {
        self.textView = textView
        self.buffer = buffer
    }

    /// - Parameters:
    ///   - words: the misspelled words of a part of the text.
    ///   - text: the text, for its offsets.
    func show(_ words: [TextRange], in part: TextRange, of text: ComposerDocument) {
        tag?.remove(from: scalars(part, text), in: buffer)
        guard !words.isEmpty else { return }
        let tag = tag ?? makeTag()
        for word in words { tag.apply(to: scalars(word, text), in: buffer) }
    }

    private func makeTag() -> TextTag {
        let tag = TextTag(in: buffer)
        self.tag = tag
        styleChanged()
        return tag
    }

    /// Updates the tag to the theme's error color.
    func styleChanged() {
        tag?.setMisspelled(textView.namedColor("error_color") ?? GdkRGBA(red: 0.88, green: 0.11, blue: 0.14, alpha: 1))
    }

    private func scalars(_ range: TextRange, _ text: ComposerDocument) -> Range<Int> {
        let start = text.scalarOffset(ofUTF16: range.location)
        return start..<max(start, text.scalarOffset(ofUTF16: range.end))
    }
}
