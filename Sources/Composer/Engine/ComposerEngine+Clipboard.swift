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

    /// Pastes the best of the offers, unless a plug-in handles one (MIB-22): the composer's own format; otherwise
    /// accepted media or text, whichever is advertised first, with media in the preferred format (SLK-36, SLK-37,
    /// MIB-19).
    mutating func paste(_ offers: [PasteOffer]) {
        if isHandledByPlugIn(offers) { return observe(.pasted) }
        for case .fragment(let fragment) in offers { return paste(fragment) }
        var media: [(attachment: Attachment, preference: Int)] = []
        var text: String?
        var textIsFirst = false
        var rejectedType: String?
        for offer in offers {
            switch offer {
            case .fragment: continue
            case .text(let offered):
                guard text == nil else { continue }
                text = offered
                textIsFirst = media.isEmpty
            case .media(let attachment):
                if let preference = configuration.attachments.preference(of: attachment.type) {
                    media.append((attachment, preference))
                } else {
                    rejectedType = rejectedType ?? attachment.type
                }
            }
        }
        if let best = media.min(by: { $0.preference < $1.preference }), text == nil || !textIsFirst {
            return attach(best.attachment)
        }
        if let text { return paste(text: text) }
        if let rejectedType { reject(.mediaType(rejectedType)) }
    }

    private mutating func paste(text: String) {
        let before = revision
        edit(selection, text, .paste)
        if revision != before { observe(.pasted) }
    }

    private mutating func paste(_ offered: ClipboardFragment) {
        let written = withoutForeignImages(offered.written)
        guard !written.source.isEmpty, let admitted = admit(selection, written.source, .paste) else { return }
        let start = selection.location
        let whole = admitted == written.source
        history.beginTransaction()
        replace(selection, with: admitted, origin: .paste)
        if whole { document.add(written.marks, from: start) }
        recordSpans()
        history.endTransaction()
        observe(.pasted)
    }

    /// Removes images that aren't among the attachments or are already in the text.
    private func withoutForeignImages(_ written: WrittenText) -> WrittenText {
        let hasImages = written.marks.contains { if case .file = $0.content { true } else { false } }
        guard hasImages else { return written }
        let filtered = ComposerDocument(written).removingImages { source in
            let stays = document.images.contains { $0.imageSource == source && !selection.covers($0.range) }
            return stays || !attachments.contains { $0.source == source }
        }
        return filtered.written
    }
}
