extension ComposerEngine {
    mutating func copy() {
        guard !selection.isEmpty else { return }
        let fragment = document.fragment(in: selection)
        clipboard = fragment
        emit(.copied(fragment))
        observe(.copied)
    }

    mutating func cut() {
        guard !selection.isEmpty, admit(selection, "", .typed) != nil else { return }
        copy()
        replace(selection, with: "", origin: .typed)
    }

    /// Takes the best of what is offered, unless a plug-in takes something (MIB-22): the composer's own form, else
    /// media it accepts or text, whichever is advertised first, media in its most faithful form (SLK-36, SLK-37,
    /// MIB-19).
    mutating func paste(_ offers: [PasteOffer]) {
        if isTakenByPlugIn(offers) { return observe(.pasted) }
        for case .fragment(let fragment) in offers where fragment.isSound { return paste(fragment) }
        var media: [(attachment: Attachment, preference: Int)] = []
        var text: String?
        var textIsFirst = false
        var refused: String?
        for offer in offers {
            switch offer {
            case .fragment(let fragment): text = text ?? fragment.text
            case .text(let offered):
                guard text == nil else { continue }
                text = offered
                textIsFirst = media.isEmpty
            case .media(let attachment):
                if let preference = configuration.attachments.preference(of: attachment.type) {
                    media.append((attachment, preference))
                } else {
                    refused = refused ?? attachment.type
                }
            }
        }
        if let best = media.min(by: { $0.preference < $1.preference }), text == nil || !textIsFirst {
            return attach(best.attachment)
        }
        if let text { return paste(text: text) }
        if let refused { refuse(.mediaType(refused)) }
    }

    private mutating func paste(text: String) {
        let before = revision
        edit(selection, text, .paste)
        if revision != before { observe(.pasted) }
    }

    private mutating func paste(_ offered: ClipboardFragment) {
        let fragment = withoutForeignPictures(offered)
        guard !fragment.text.isEmpty, let admitted = admit(selection, fragment.text, .paste) else { return }
        let start = selection.location
        let whole = admitted == fragment.text
        history.beginTransaction()
        replace(selection, with: admitted, origin: .paste)
        for span in fragment.spans where whole {
            let range = TextRange(location: start + span.range.location, length: span.range.length)
            switch span.content {
            case .mention(let mention): _ = document.addMention(mention, over: range)
            case .style(let style): document.setStyle(style, true, over: range)
            case .picture(let source): document.addPicture(source, at: range.location)
            }
        }
        let after = UndoHistory.Moment(spans: document.spans, selection: selection)
        history.record([], grouping: .atomic, from: after, to: after, at: now)
        history.endTransaction()
        observe(.pasted)
    }

    /// A picture comes along only as one that this composer holds, and that does not stand in the text already.
    private func withoutForeignPictures(_ fragment: ClipboardFragment) -> ClipboardFragment {
        guard fragment.spans.contains(where: { $0.picture != nil }),
            let pasted = ComposerDocument(fragment.text, spans: fragment.spans)
        else { return fragment }
        let kept = pasted.removingPictures { source in
            let stays = document.pictures.contains { $0.picture == source && !selection.covers($0.range) }
            return stays || !attachments.contains { $0.source == source }
        }
        return kept.fragment(in: TextRange(location: 0, length: kept.length))
    }
}
