import Composer
import GtkKit

/// Draws mentions as pills: tags set the text color, a rounded background is drawn below the text.
///
/// The buffer moves tags along with the text, so only mentions touched by an edit are retagged.
final class MentionPills {
    /// The entity ID of the user, whose mentions get a distinct pill.
    var currentUserEntityID: String? {
        didSet { if currentUserEntityID != oldValue { tagAgain() } }
    }
    /// The mention drawn as selected (HKW-56).
    var highlighted: Span.ID?

    private struct Tagged {
        let id: Span.ID
        var range: TextRange
        var isOwn: Bool
        /// Whether an edit overlapped it: any remaining tagged text must be untagged.
        var isDamaged = false
    }

    private let textView: TextView
    private let buffer: TextBuffer
    private let others: TextTag
    private let ownTag: TextTag
    private var tagged: [Tagged] = []
    private var spans: [Span] = []
    private var palette = PillPalette()

    init(textView: TextView, buffer: TextBuffer) {
        self.textView = textView
        self.buffer = buffer
        others = TextTag(in: buffer)
        ownTag = TextTag(in: buffer)
        styleChanged()
    }

    // MARK: Following the document

    /// Adjusts the tagged ranges to an edit that is being applied.
    func track(_ edit: AppliedEdit) {
        guard !tagged.isEmpty else { return }
        let delta = edit.replacement.utf16.count - edit.range.length
        for index in tagged.indices where tagged[index].range.end > edit.range.location {
            let range = tagged[index].range
            if edit.range.end <= range.location {
                tagged[index].range.location += delta
            } else {
                tagged[index].isDamaged = true
                let start = min(range.location, edit.range.location)
                tagged[index].range = TextRange(start: start, end: max(range.end, edit.range.end) + delta)
            }
        }
    }

    /// Untags inserted text: between two adjacent pills it would inherit the tags of both.
    func inserted(_ range: Range<Int>) {
        guard !tagged.isEmpty else { return }
        for tag in [others, ownTag] { tag.remove(from: range, in: buffer) }
    }

    /// Tags new mentions, and untags text that is no longer a mention.
    func update(_ document: ComposerDocument) {
        spans = document.spans
        guard !spans.isEmpty || !tagged.isEmpty else { return }
        let mentions = document.mentions
        let unchanged =
            mentions.count == tagged.count
            && zip(mentions, tagged).allSatisfy { span, tagged in
                span.id == tagged.id && !tagged.isDamaged && tagged.isOwn == isOwn(span)
            }
        if !unchanged { retag(mentions, document) }
        textView.queueDraw()
    }

    private func retag(_ mentions: [Span], _ document: ComposerDocument) {
        let mentionsByID = Dictionary(mentions.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var unchangedIDs: Set<Span.ID> = []
        for old in tagged {
            if let span = mentionsByID[old.id], !old.isDamaged, old.isOwn == isOwn(span) {
                unchangedIDs.insert(old.id)
            } else {
                for tag in [others, ownTag] { tag.remove(from: scalars(old.range, document), in: buffer) }
            }
        }
        tagged = mentions.map { span in
            let isOwn = isOwn(span)
            if !unchangedIDs.contains(span.id) {
                (isOwn ? ownTag : others).apply(to: scalars(span.range, document), in: buffer)
            }
            return Tagged(id: span.id, range: span.range, isOwn: isOwn)
        }
    }

    private func tagAgain() {
        for index in tagged.indices { tagged[index].isDamaged = true }
    }

    private func isOwn(_ span: Span) -> Bool {
        currentUserEntityID != nil && span.mention?.entityID == currentUserEntityID
    }

    private func scalars(_ range: TextRange, _ document: ComposerDocument) -> Range<Int> {
        let start = document.scalarOffset(ofUTF16: range.location)
        return start..<max(start, document.scalarOffset(ofUTF16: range.end))
    }

    // MARK: Drawing

    func styleChanged() {
        let next = PillPalette(of: textView)
        guard next != palette else { return }
        palette = next
        others.setProperty("foreground-rgba", palette.text)
        ownTag.setProperty("foreground-rgba", palette.ownMentionText)
        // A custom text view cannot draw below its text: use a plain background color.
        if ComposerTextView.of(textView) == nil {
            others.setProperty("background-rgba", palette.style(isOwn: false, isHighlighted: false).fill)
            ownTag.setProperty("background-rgba", palette.style(isOwn: true, isHighlighted: false).fill)
        }
        textView.queueDraw()
    }

    func draw(_ view: ComposerTextView, _ snapshot: Snapshot, _ document: ComposerDocument) {
        guard !spans.isEmpty else { return }
        let visible = view.visibleOffsets
        let start = document.utf16Offset(ofScalar: visible.lowerBound)
        let end = document.utf16Offset(ofScalar: visible.upperBound)
        for span in document.mentions where span.range.end > start && span.range.location < end {
            let style = palette.style(isOwn: isOwn(span), isHighlighted: span.id == highlighted)
            for rectangle in view.rectangles(of: scalars(span.range, document)) { style.draw(rectangle, snapshot) }
        }
    }
}
