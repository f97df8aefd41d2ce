public import Foundation

/// A piece of a document for the composer's own clipboard type: mentions survive cut, copy, paste and drag (HKW-29).
public struct ClipboardFragment: Hashable, Sendable, Codable {
    /// The MIME type under which a window offers ``encoded()`` beside the plain text.
    public static let mediaType = "application/x-parlance-fragment+json"

    public var text: String
    /// In ranges of ``text``. A mention is here only if the whole of it was copied.
    public var spans: [Span]

    /// The fragment for other programs: JSON.
    public func encoded() throws -> Data {
        try JSONEncoder().encode(self)
    }

    /// Reads what ``encoded()`` wrote; anything else throws.
    public static func decode(_ data: Data) throws -> ClipboardFragment {
        try JSONDecoder().decode(ClipboardFragment.self, from: data)
    }
}

extension ComposerDocument {
    func fragment(in range: TextRange) -> ClipboardFragment {
        let inner = spans.compactMap { span -> Span? in
            var span = span
            let start = max(span.range.location, range.location)
            let end = min(span.range.end, range.end)
            guard start < end, span.mention == nil || range.covers(span.range) else { return nil }
            span.range = TextRange(location: start - range.location, length: end - start)
            return span
        }
        return ClipboardFragment(text: text(in: range), spans: inner)
    }
}

/// What a clipboard or a drop offers, in the order in which it advertises it.
public enum PasteOffer: Hashable, Sendable {
    case fragment(ClipboardFragment)
    case text(String)
    case media(Attachment)
}
