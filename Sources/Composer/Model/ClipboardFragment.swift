public import Foundation

/// A piece of a document for the composer's own clipboard type: mentions survive cut, copy, paste and drag (HKW-29).
public struct ClipboardFragment: Hashable, Sendable, Codable {
    /// The MIME type under which a window offers ``encoded()`` beside the plain text.
    public static let mediaType = "application/x-parlance-fragment+json"
    /// The version that this code writes and the only one that it reads.
    public static let currentVersion = 2
    /// Bytes beyond which ``decode(_:)`` reads nothing.
    public static let maxEncodedBytes = 16 * 1024 * 1024
    /// Marks beyond which ``decode(_:)`` reads nothing: nobody writes so many, and each costs on every key press.
    public static let maxMarks = 4096

    /// A mention is marked only if the whole of it was copied.
    public var written: WrittenText
    /// What programs get that don't read this form; nil is the source of ``written``.
    public var plainText: String?
    /// The same for those that take formatted text.
    public var html: String?

    public init(_ written: WrittenText, plainText: String? = nil, html: String? = nil) {
        self.written = written
        self.plainText = plainText
        self.html = html
    }

    /// What programs get that take nothing but text.
    public var text: String { plainText ?? written.source }

    private struct Versioned: Codable {
        var version: Int
        var written: WrittenText
    }

    /// The fragment for other windows: JSON, with the version of its form.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Versioned(version: Self.currentVersion, written: written))
    }

    /// Reads what ``encoded()`` wrote. Any program can put anything on a clipboard: what does not hold together is
    /// refused, and whoever pastes takes the plain text that is offered beside it.
    ///
    /// - Throws: ``ClipboardFragmentError``, whatever the data is.
    public static func decode(_ data: Data) throws(ClipboardFragmentError) -> ClipboardFragment {
        struct Header: Decodable { var version: Int }
        guard data.count <= maxEncodedBytes else { throw .tooLarge }
        let decoder = JSONDecoder()
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

/// Why a clipboard's fragment was not read.
public enum ClipboardFragmentError: Error, Hashable, Sendable {
    /// Not a fragment at all, or cut off.
    case unreadable
    /// Written by another version of the program.
    case unknownVersion(Int)
    /// Marks don't fit the text.
    case damaged
    /// Over ``ClipboardFragment/maxEncodedBytes`` or ``ClipboardFragment/maxMarks``.
    case tooLarge
}

extension ComposerDocument {
    /// A piece of the text for a clipboard or a drag; mentions are marked in it only as a whole (HKW-29).
    public func fragment(in range: TextRange) -> ClipboardFragment { ClipboardFragment(written(in: range)) }
}

/// What a clipboard or a drop offers, in the order in which it advertises it.
public enum PasteOffer: Hashable, Sendable {
    case fragment(ClipboardFragment)
    case text(String)
    case media(Attachment)
}
