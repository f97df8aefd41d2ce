public import ChatCore
public import Foundation

/// A parsed search query: words, and filters such as `from:ann`, `in:"Project X"`, `before:2024-05`, `after:yesterday`
/// and `has:image`.
public nonisolated struct SearchSyntax: Equatable, Sendable {
    /// An invalid part of a query.
    public nonisolated enum Problem: Equatable, Sendable {
        /// A filter has no value.
        case missingValue(String)
        /// The value of `before:` or `after:` is not a date.
        case date(String)
        /// The value of `has:` is not a known kind of content.
        case content(String)
        /// No member has this name.
        case unknownSender(String)
        /// No room has this name.
        case unknownRoom(String)
        /// `in:` was used in a search of one room.
        case roomAlreadySpecified
    }

    /// The words to search for, in the syntax of ``SearchTerms``.
    public var text = ""
    /// Names of senders; messages from any of them match.
    public var senders: [String] = []
    /// Names of rooms; messages in any of them match.
    public var rooms: [String] = []
    /// The inclusive start of the date range.
    public var from: Date?
    /// The exclusive end of the date range.
    public var until: Date?
    public var contents: Set<SearchContent> = []
    /// In the order of the text. If there are any, no search is run.
    public var problems: [Problem] = []

    /// - Parameters:
    ///   - now: the reference date of `today` and `yesterday`.
    ///   - calendar: determines where days begin.
    public init(_ typed: String, now: Date = Date(), calendar: Calendar = .current) {
        var words: [String] = []
        for token in Self.tokens(typed) {
            guard let (key, value) = Self.filter(token) else {
                words.append(token)
                continue
            }
            guard !value.isEmpty else {
                problems.append(.missingValue(key.rawValue))
                continue
            }
            switch key {
            case .from: senders.append(value)
            case .in: rooms.append(value)
            case .has:
                if let content = Self.content(value) {
                    contents.insert(content)
                } else {
                    problems.append(.content(value))
                }
            case .before, .after:
                guard let day = Self.period(value, now: now, calendar: calendar) else {
                    problems.append(.date(value))
                    continue
                }
                if key == .before {
                    until = min(until ?? day.start, day.start)
                } else {
                    from = max(from ?? day.end, day.end)
                }
            }
        }
        text = words.joined(separator: " ")
    }

    /// Whether the query is empty.
    public var isEmpty: Bool {
        text.isEmpty && senders.isEmpty && rooms.isEmpty && from == nil && until == nil && contents.isEmpty
            && problems.isEmpty
    }

    // MARK: Tokens

    private enum Key: String, CaseIterable {
        case from, `in`, before, after, has
    }

    /// Splits at white space outside quotation marks; keeps the quotation marks.
    private static func tokens(_ typed: String) -> [String] {
        var tokens: [String] = []
        var token = ""
        var isQuoted = false
        for character in typed {
            if SearchTerms.quotes.contains(character) { isQuoted.toggle() }
            if character.isWhitespace, !isQuoted {
                if !token.isEmpty { tokens.append(token) }
                token = ""
            } else {
                token.append(character)
            }
        }
        return token.isEmpty ? tokens : tokens + [token]
    }

    /// Parses a filter and its unquoted value; returns `nil` for a word, even if it contains a colon.
    private static func filter(_ token: String) -> (Key, String)? {
        guard let colon = token.firstIndex(of: ":"), let key = Key(rawValue: token[..<colon].lowercased()) else {
            return nil
        }
        let value = token[token.index(after: colon)...].filter { !SearchTerms.quotes.contains($0) }
        return (key, value.trimmingCharacters(in: .whitespaces))
    }

    private static func content(_ value: String) -> SearchContent? {
        switch value.lowercased() {
        case "link", "links", "url": .link
        case "file", "files", "attachment", "attachments": .file
        case "image", "images", "photo", "picture", "gif": .image
        case "video", "videos", "film", "movie": .video
        case "audio", "sound", "voice", "music": .audio
        default: nil
        }
    }

    // MARK: Dates

    /// Parses a year, month, day, `today` or `yesterday` into a half-open interval.
    private static func period(_ value: String, now: Date, calendar: Calendar) -> (start: Date, end: Date)? {
        switch value.lowercased() {
        case "today": return day(containing: now, calendar)
        case "yesterday":
            return calendar.date(byAdding: .day, value: -1, to: now).flatMap { day(containing: $0, calendar) }
        default: break
        }
        let fields = value.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = fields.compactMap { $0.allSatisfy { $0.isASCII && $0.isNumber } ? Int($0) : nil }
        guard (1...3).contains(fields.count), numbers.count == fields.count, fields[0].count == 4, numbers[0] > 0 else {
            return nil
        }
        var gregorian = Calendar(identifier: .gregorian)
        gregorian.timeZone = calendar.timeZone
        let components = DateComponents(
            year: numbers[0], month: numbers.count > 1 ? numbers[1] : 1, day: numbers.count > 2 ? numbers[2] : 1)
        // Without this check, 2024-02-31 would become a date in March.
        guard components.isValidDate(in: gregorian), let start = gregorian.date(from: components),
            let end = gregorian.date(byAdding: [.year, .month, .day][numbers.count - 1], value: 1, to: start)
        else { return nil }
        return (start, end)
    }

    private static func day(containing date: Date, _ calendar: Calendar) -> (start: Date, end: Date)? {
        let start = calendar.startOfDay(for: date)
        return calendar.date(byAdding: .day, value: 1, to: start).map { (start, $0) }
    }
}
