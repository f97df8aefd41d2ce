public import Foundation

/// A document excerpt in the composer's own clipboard format. Preserves mentions across cut, copy, paste and drag
/// (HKW-29).
public struct ClipboardFragment: Hashable, Sendable, Codable {
    /// The MIME type of ``encoded()``, offered beside plain text.
    public static let mediaType = "application/x-parlance-fragment+json"
    /// The format version that this code writes, and the only one that it reads.
    public static let currentVersion = 2
    /// The maximum size in bytes that ``decode(_:)`` accepts.
    public static let maxEncodedBytes = 16 * 1024 * 1024
    /// The maximum number of marks that ``decode(_:)`` accepts. Each mark adds to the cost of every key press.
    public static let maxMarks = 4096

    /// The copied text. Marks a mention only if it was copied entirely.
    public var written: WrittenText
    /// The plain text for other programs; `nil` uses the source of ``written``.
    public var plainText: String?
    /// The HTML for other programs, or `nil`.
    public var html: String?

    public init(_ written: WrittenText, plainText: String? = nil, html: String? = nil) {
        self.written = written
        self.plainText = plainText
        self.html = html
    }

    /// The plain text to offer.
    public var text: String { plainText ?? written.source }

    private struct Versioned: Codable {
        var version: Int
        var written: WrittenText
    }

    /// Returns the fragment as JSON with its format version.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Versioned(version: Self.currentVersion, written: written))
    }

    /// Decodes the output of ``encoded()``. Clipboard data is untrusted: rejects anything inconsistent, so that
    /// pasting falls back to plain text.
    ///
    /// - Throws: ``ClipboardFragmentError`` for any invalid data.
    public static func decode(_ data: Data) throws(ClipboardFragmentError) -> ClipboardFragment {
        struct Header: Decodable { var version: Int }
        guard data.count <= maxEncodedBytes else { throw .tooLarge }
        let decoder = JSONDecoder()
        // Whatever is wrong with it, it isn't a fragment.
        guard let header = try? decoder.decode(Header.self, from: data) else { throw .unreadable }
        guard header.version == currentVersion else { throw .unknownVersion(header.version) }
        do {
            let written = try decoder.decode(Versioned.self, from: data).written
            guard written.marks.count <= maxMarks else { throw ClipboardFragmentError.tooLarge }
            return ClipboardFragment(written)
        } catch let error as ClipboardFragmentError {
            throw error
        } catch DecodingError.dataCorrupted {
            throw .damaged
        } catch {
            throw .unreadable
        }
    }
}

/// The reason why decoding a fragment failed.
public enum ClipboardFragmentError: Error, Hashable, Sendable {
    /// Not a fragment, or truncated.
    case unreadable
    /// A format version that this code doesn't read.
    case unknownVersion(Int)
    /// The marks are inconsistent with the text.
    case damaged
    /// Exceeds ``ClipboardFragment/maxEncodedBytes`` or ``ClipboardFragment/maxMarks``.
    case tooLarge
}

extension ComposerDocument {
    /// Returns an excerpt for a clipboard or a drag. Marks mentions only if the range covers them (HKW-29).
    public func fragment(in range: TextRange) -> ClipboardFragment { ClipboardFragment(written(in: range)) }
}

/// The content that a clipboard or a drop offers.
public enum PasteOffer: Hashable, Sendable {
    case fragment(ClipboardFragment)
    case text(String)
    case media(Attachment)
}
