public import ChatCore
import Composer
public import Foundation

/// A message that was found, as a list shows it.
public nonisolated struct SearchResult: Identifiable, Equatable, Sendable {
    /// A message's identifier says nothing without its room's.
    public nonisolated struct ID: Hashable, Sendable {
        public let room: RoomID
        public let message: MessageID
    }

    public let id: ID
    public var roomName: String
    public var senderName: String
    /// Whether it is one's own.
    public var isOwn: Bool
    public var sentAt: Date
    public var day: RelativeDay
    /// What stands around the first match, on one line.
    public var snippet: String
    /// What matches in it, in UTF-8 units.
    public var matches: [Range<Int>]

    /// Characters that a snippet shows before its first match, and in all.
    static let lead = 24
    static let length = 160

    /// - Parameter readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    init(
        _ message: Message, roomName: String, sender: Member?, terms: SearchTerms, readsPlainTexts: Bool, now: Date
    ) {
        id = ID(room: message.roomID, message: message.id)
        self.roomName = roomName
        senderName = sender?.displayName ?? message.sender.rawValue
        isOwn = sender?.kind == .own
        sentAt = message.sentAt
        day = RelativeDay(message.sentAt, now: now)
        let syntax = message.textSyntax(readsPlainTexts: readsPlainTexts)
        snippet = Self.snippet(of: Self.displayText(in: message, syntax, terms), terms)
        matches = terms.ranges(in: snippet)
    }

    /// The text without its marks, or what the message has in its place.
    private static func displayText(
        in message: Message, _ syntax: WrittenText.Syntax, _ terms: SearchTerms
    ) -> String {
        guard !message.text.isEmpty else { return message.attachments.map(\.name).joined(separator: ", ") }
        let text = message.text.searchedPrefix
        let first = terms.ranges(in: text, limit: 1).first?.lowerBound ?? 0
        let plain = PlainPreview.surroundings(of: first, in: text, syntax)
        // What was found may stand in what is not shown, as an address behind a word: then it is shown as it was
        // typed, unless there is a spoiler.
        let isLost = !terms.ranges(in: text, limit: 1).isEmpty && terms.ranges(in: plain, limit: 1).isEmpty
        return isLost && !text.contains("||") ? text : plain
    }

    /// The part of a text around the first match, blanks as one.
    static func snippet(of text: String, _ terms: SearchTerms) -> String {
        let text = text.searchedPrefix
        let first = terms.ranges(in: text, limit: 1).first?.lowerBound ?? 0
        let match = text.utf8.index(text.startIndex, offsetBy: first).samePosition(in: text) ?? text.startIndex
        var start = text.startIndex
        if text.distance(from: text.startIndex, to: match) > Self.lead {
            let earliest = text.index(match, offsetBy: -Self.lead)
            // From the beginning of a word, if one begins near.
            start = text[earliest..<match].firstIndex(where: \.isWhitespace).map(text.index(after:)) ?? earliest
        }
        let end = text.index(start, offsetBy: Self.length, limitedBy: text.endIndex) ?? text.endIndex
        let line = text[start..<end].split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return (start > text.startIndex ? "…" : "") + line + (end < text.endIndex ? "…" : "")
    }
}

extension String {
    /// A text of megabytes is not looked through for a line.
    fileprivate nonisolated var searchedPrefix: String {
        utf8.count <= 200_000 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(200_000)))
    }
}
