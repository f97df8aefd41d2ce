import CGtk
import Composer
import GtkKit

/// Shows mentions as pills: the colour of their text by tags, the rounded background beneath the text.
///
/// The buffer carries tags along with the text, so that only what an edit touched is tagged again.
final class MentionPills {
    /// The identifier of the user, whose pill looks different.
    var currentUserEntityID: String? {
        didSet { if currentUserEntityID != oldValue { tagAgain() } }
    }
    /// The mention that is drawn as selected (HKW-56).
    var highlighted: Span.ID?

    private struct Tagged {
        let id: Span.ID
        var range: TextRange
        var isOwn: Bool
        /// An edit went through it: what of it still has the tag must lose it.
        var isDamaged = false
    }

    private let textView: Widget
    private let buffer: Object
    private let others: TextTag
    private let ownTag: TextTag
    private var tagged: [Tagged] = []
    private var spans: [Span] = []
    private var palette = PillPalette()

    init(textView: Widget, buffer: Object) {
        self.textView = textView
        self.buffer = buffer
        others = TextTag(in: buffer)
        ownTag = TextTag(in: buffer)
        styleChanged()
    }

    // MARK: Following the document

    /// Keeps the places of tagged text true to an edit that is being carried out.
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

    /// Text that comes between two pills that touch would take the tag of both.
    func inserted(_ range: Range<Int>) {
        guard !tagged.isEmpty else { return }
        for tag in [others, ownTag] { tag.remove(from: range, in: buffer) }
    }

    /// Tags what has become a mention, and no longer what was one.
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
        gtk_widget_queue_draw(textView.cast())
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
        // A text view that is not of this library draws nothing beneath its text.
        if ComposerTextView.of(textView) == nil {
            others.setProperty("background-rgba", palette.style(isOwn: false, isHighlighted: false).fill)
            ownTag.setProperty("background-rgba", palette.style(isOwn: true, isHighlighted: false).fill)
        }
        gtk_widget_queue_draw(textView.cast())
    }

    func draw(_ view: ComposerTextView, _ snapshot: OpaquePointer, _ document: ComposerDocument) {
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
