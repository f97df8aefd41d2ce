public import ChatCore
public import Foundation

/// What is typed into a search: words, and filters such as `from:ann`, `in:"Project X"`, `before:2024-05`,
/// `after:yesterday` and `has:image`.
public nonisolated struct SearchSyntax: Equatable, Sendable {
    /// A part of the text that cannot be searched for as it is.
    public nonisolated enum Problem: Equatable, Sendable {
        /// A filter without a value.
        case missingValue(String)
        /// No date, as it was written after `before:` or `after:`.
        case date(String)
        /// Nothing that messages have, as it was written after `has:`.
        case content(String)
        /// Nobody is called that.
        case unknownSender(String)
        /// No room is called that.
        case unknownRoom(String)
        /// `in:` where one room is searched.
        case roomAlreadySpecified
    }

    /// Words, as ``SearchTerms`` takes them.
    public var text = ""
    /// Names, any of which.
    public var senders: [String] = []
    /// Names of rooms, any of which.
    public var rooms: [String] = []
    /// Sent then or later.
    public var from: Date?
    /// Sent earlier.
    public var until: Date?
    public var contents: Set<SearchContent> = []
    /// In the order of the text. With any of them nothing is searched for: what was meant is not known.
    public var problems: [Problem] = []

    /// - Parameters:
    ///   - now: what `today` and `yesterday` go by.
    ///   - calendar: where days begin.
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

    /// Whether nothing is asked for.
    public var isEmpty: Bool {
        text.isEmpty && senders.isEmpty && rooms.isEmpty && from == nil && until == nil && contents.isEmpty
            && problems.isEmpty
    }

    // MARK: Tokens

    private enum Key: String, CaseIterable {
        case from, `in`, before, after, has
    }

    /// What stands between blanks, those in quotes not counted; quotes stay.
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

    /// A filter's name and value, without its quotes; nil for a word, whatever colons are in it.
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

    /// A year, a month, a day, `today` or `yesterday`, from its beginning to the next one's.
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
        // 2024-02-31 would be another day.
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
