public import Foundation

/// A piece of a document for the composer's own clipboard type: mentions survive cut, copy, paste and drag (HKW-29).
public struct ClipboardFragment: Hashable, Sendable, Codable {
    /// The MIME type under which a window offers ``encoded()`` beside the plain text.
    public static let mediaType = "application/x-parlance-fragment+json"
    /// The version that this code writes and the only one that it reads.
    public static let currentVersion = 1
    /// Bytes beyond which ``decode(_:)`` reads nothing.
    public static let largestEncoding = 16 * 1024 * 1024
    /// Spans beyond which ``decode(_:)`` reads nothing: nobody writes so many, and each costs on every key press.
    public static let mostSpans = 4096

    public var text: String
    /// In ranges of ``text``. A mention is here only if the whole of it was copied.
    public var spans: [Span]

    private struct Versioned: Codable {
        var version: Int
        var text: String
        var spans: [Span]
    }

    /// The fragment for other windows: JSON, with the version of its form.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Versioned(version: Self.currentVersion, text: text, spans: spans))
    }

    /// Reads what ``encoded()`` wrote. Any program can put anything on a clipboard: what does not hold together is
    /// refused, and whoever pastes takes the plain text that is offered beside it.
    ///
    /// - Throws: ``ClipboardFragmentError``, whatever the data is.
    public static func decode(_ data: Data) throws(ClipboardFragmentError) -> ClipboardFragment {
        struct Header: Decodable { var version: Int }
        guard data.count <= largestEncoding else { throw .tooLarge }
        let decoder = JSONDecoder()
        guard let header = try? decoder.decode(Header.self, from: data) else { throw .unreadable }
        guard header.version == currentVersion else { throw .unknownVersion(header.version) }
        guard let read = try? decoder.decode(Versioned.self, from: data) else { throw .unreadable }
        guard read.spans.count <= mostSpans else { throw .tooLarge }
        let fragment = ClipboardFragment(text: read.text, spans: read.spans)
        guard fragment.isSound else { throw .damaged }
        return fragment
    }

    /// Whether text and spans hold together.
    var isSound: Bool { ComposerDocument(text, spans: spans) != nil }
}

/// Why a clipboard's fragment was not read.
public enum ClipboardFragmentError: Error, Hashable, Sendable {
    /// Not a fragment at all, or cut off.
    case unreadable
    /// Written by another version of the program.
    case unknownVersion(Int)
    /// Offsets or mentions don't fit the text.
    case damaged
    /// Over ``ClipboardFragment/largestEncoding`` or ``ClipboardFragment/mostSpans``.
    case tooLarge
}

extension ComposerDocument {
    /// Text and spans from outside; nil if the text holds NUL or a span does not fit it: outside of it, off the
    /// boundaries of clusters, a mention of another text or across another, an identifier that another span has.
    init?(_ text: String, spans: [Span]) {
        var document = ComposerDocument(text)
        guard document.length == text.utf16.count, Set(spans.map(\.id)).count == spans.count else { return nil }
        let sorted = spans.sorted { $0.range.location < $1.range.location }
        var mentionsEnd = 0
        for span in sorted {
            guard !span.range.isEmpty, document.contains(span.range) else { return nil }
            if span.picture != nil, document.text(in: span.range) != Span.pictureCharacter { return nil }
            guard let mention = span.mention else { continue }
            let written = document.text(in: span.range).unicodeScalars
            guard span.range.location >= mentionsEnd, written.elementsEqual(mention.text.unicodeScalars) else {
                return nil
            }
            mentionsEnd = span.range.end
        }
        document.restoreSpans(sorted)
        let before = document.spans
        document.alignSpans()
        guard document.spans == before else { return nil }
        self = document
    }

    /// A piece of the text with its spans, for a clipboard or a drag; mentions are in it only as a whole (HKW-29).
    public func fragment(in range: TextRange) -> ClipboardFragment {
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
