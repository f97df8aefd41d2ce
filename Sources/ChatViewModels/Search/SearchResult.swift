public import ChatCore
import Composer
public import Foundation

/// A search result as a list displays it.
public nonisolated struct SearchResult: Identifiable, Equatable, Sendable {
    /// Message IDs are unique only within a room.
    public nonisolated struct ID: Hashable, Sendable {
        public let room: RoomID
        public let message: MessageID
    }

    public let id: ID
    public var roomName: String
    public var senderName: String
    /// Whether the user sent it.
    public var isOwn: Bool
    /// The warning that the timeline shows beside the message.
    public var trust: MessageTrust?
    public var sentAt: Date
    public var day: RelativeDay
    /// The text around the first match, on one line.
    public var snippet: String
    /// The matches in ``snippet``, in UTF-8 code units.
    public var matches: [Range<Int>]

    /// A line of text with highlighted matches.
    public nonisolated struct Line: Equatable, Sendable {
        public let text: String
        /// In UTF-8 code units.
        public let matches: [Range<Int>]
    }

    /// The snippet with its sender and the warning about it.
    public func line(_ translator: Translator) -> Line {
        func line(_ snippet: String) -> String {
            let text = trust.marking(snippet, translator)
            return isOwn
                ? translator("You: {text}", ["text": text])
                : translator("{name}: {text}", ["name": senderName, "text": text])
        }
        // A private-use character stands for the snippet, whose words may also occur in the name or in the warning.
        let parts = line("\u{F8FF}").split(separator: "\u{F8FF}", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return Line(text: line(snippet), matches: []) }
        let start = parts[0].utf8.count
        // Not `line(snippet)`, in which the snippet starts elsewhere where the language isolates letters but no digits.
        return Line(
            text: "\(parts[0])\(snippet)\(parts[1])",
            matches: matches.map { start + $0.lowerBound..<start + $0.upperBound })
    }

    /// What a screen reader says for the result.
    /// - Parameter time: the full date and time.
    public func accessibleText(time: String, _ translator: Translator) -> String {
        translator(
            "{room}, {date}, {message}", ["room": roomName, "date": time, "message": line(translator).text])
    }

    /// The maximum number of characters before the first match, and in the whole snippet.
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
        trust = message.trust
        sentAt = message.sentAt
        day = RelativeDay(message.sentAt, now: now)
        let syntax = message.textSyntax(readsPlainTexts: readsPlainTexts)
        snippet = Self.snippet(of: Self.displayText(in: message, syntax, terms), terms)
        matches = terms.ranges(in: snippet)
    }

    /// The text without Markdown, or the names of the attachments if there is no text.
    private static func displayText(
        in message: Message, _ syntax: WrittenText.Syntax, _ terms: SearchTerms
    ) -> String {
        guard !message.text.isEmpty else { return message.attachments.map(\.name).joined(separator: ", ") }
        let text = message.text.searchedPrefix
        let first = terms.ranges(in: text, limit: 1).first?.lowerBound ?? 0
        let plain = PlainPreview.surroundings(of: first, in: text, syntax)
        // The match may be in hidden text, such as a link's URL. Show the source then, unless it contains a spoiler.
        let isLost = !terms.ranges(in: text, limit: 1).isEmpty && terms.ranges(in: plain, limit: 1).isEmpty
        return isLost && !text.contains("||") ? text : plain
    }

    /// Extracts the text around the first match, with white space collapsed.
    static func snippet(of text: String, _ terms: SearchTerms) -> String {
        let text = text.searchedPrefix
        let first = terms.ranges(in: text, limit: 1).first?.lowerBound ?? 0
        let match = text.utf8.index(text.startIndex, offsetBy: first).samePosition(in: text) ?? text.startIndex
        var start = text.startIndex
        if text.distance(from: text.startIndex, to: match) > Self.lead {
            let earliest = text.index(match, offsetBy: -Self.lead)
            // Prefer to start at a word boundary.
            start = text[earliest..<match].firstIndex(where: \.isWhitespace).map(text.index(after:)) ?? earliest
        }
        let end = text.index(start, offsetBy: Self.length, limitedBy: text.endIndex) ?? text.endIndex
        let line = text[start..<end].split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return (start > text.startIndex ? "…" : "") + line + (end < text.endIndex ? "…" : "")
    }
}

extension String {
    /// Very long texts are searched only up to this limit, since the snippet is a single line.
    fileprivate nonisolated var searchedPrefix: String {
        utf8.count <= 200_000 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(200_000)))
    }
}
