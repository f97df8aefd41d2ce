/// What a composer uses of the content that a clipboard or a drop offers.
enum PastedContent {
    case fragment(ClipboardFragment)
    case attachment(Attachment)
    case text(String)
    /// Only media of types that aren't accepted; the first of them.
    case rejected(type: String)
    case nothing
}

extension AttachmentLimits {
    /// Returns the best of the offers: the composer's own format; otherwise accepted media or text, whichever is
    /// advertised first, with media in the preferred format (SLK-36, SLK-37, MIB-19).
    func content(of offers: [PasteOffer]) -> PastedContent {
        for case .fragment(let fragment) in offers { return .fragment(fragment) }
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
                if let preference = preference(of: attachment.type) {
                    media.append((attachment, preference))
                } else {
                    rejectedType = rejectedType ?? attachment.type
                }
            }
        }
        if let best = media.min(by: { $0.preference < $1.preference }), text == nil || !textIsFirst {
            return .attachment(best.attachment)
        }
        if let text { return .text(text) }
        return rejectedType.map { .rejected(type: $0) } ?? .nothing
    }
}
