import Foundation

/// An emoji with its names.
public nonisolated struct Emoji: Hashable, Sendable {
    /// Where the skin tone modifier is inserted.
    public enum ToneRule: Int, Sendable {
        case none, first, firstAndLast
    }

    /// The emoji without a skin tone.
    public var text: String
    /// Where a skin tone is inserted, if it can have one.
    public var tones: ToneRule
    /// Short codes without colons; never empty.
    public var codes: [String]
    /// The localized name, or the English one if there is no translation.
    public var name: String
    /// Additional search terms, localized and in English.
    public var keywords: [String]
}

/// A skin tone of the Fitzpatrick scale.
public nonisolated enum SkinTone: Int, CaseIterable, Sendable {
    case none, light, mediumLight, medium, mediumDark, dark

    fileprivate var modifier: Unicode.Scalar? {
        self == .none ? nil : Unicode.Scalar(0x1F3FA + UInt32(rawValue))
    }

    /// The short code. Numbers start at 2, because types 1 and 2 of the scale share a modifier.
    var code: String { "skin-tone-\(rawValue + 1)" }

    init?(code: Substring) {
        guard let tone = Self.allCases.first(where: { $0 != .none && code == $0.code }) else { return nil }
        self = tone
    }
}

/// All emoji, in picker order.
public nonisolated struct EmojiCatalog: Sendable {
    /// In picker order.
    public let emoji: [Emoji]
    private let byCode: [String: Int]
    private let byText: [String: Int]

    /// A line of the list is invalid.
    public struct Malformed: Error, Equatable, Sendable {
        /// The line number, from 1, not counting comments.
        public let line: Int
    }

    /// Parses the output of `build-aux/emoji-data`: the emoji list, and localized and English names, line by line.
    ///
    /// - Throws: ``Malformed`` if a line of the list is invalid.
    public init(list: String, names: String, english: String) throws(Malformed) {
        let (localized, fallback) = (Self.lines(names), Self.lines(english))
        var emoji: [Emoji] = []
        for (number, line) in Self.lines(list).enumerated() where !line.isEmpty {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 3, !fields[0].isEmpty, let rule = Int(fields[1]).flatMap(Emoji.ToneRule.init),
                let code = fields[2].split(separator: " ").first
            else { throw Malformed(line: number + 1) }
            let words = [localized, fallback].compactMap { lines -> [String]? in
                guard lines.indices.contains(number), !lines[number].isEmpty else { return nil }
                return lines[number].split(separator: "|").map { String($0) }
            }
            let name = words.first?.first ?? String(code.map { $0 == "_" ? " " : $0 })
            emoji.append(
                Emoji(
                    text: String(fields[0]), tones: rule, codes: fields[2].split(separator: " ").map { String($0) },
                    name: name, keywords: words.flatMap { $0 }.filter { $0 != name }))
        }
        self.emoji = emoji
        let codes = emoji.enumerated().flatMap { index, one in one.codes.map { ($0, index) } }
        byCode = Dictionary(codes, uniquingKeysWith: { first, _ in first })
        byText = Dictionary(emoji.enumerated().map { ($1.text, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the lines that are not comments.
    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("# ") }
    }

    /// Returns the emoji with a short code.
    public func emoji(code: some StringProtocol) -> Emoji? { byCode[String(code)].map { emoji[$0] } }

    /// Returns the emoji for a short code with an optional skin tone, such as `wave` or `wave::skin-tone-3`.
    public func text(ofCode code: String) -> String? {
        let components = code.split(separator: ":", omittingEmptySubsequences: true)
        guard let first = components.first, let emoji = emoji(code: first) else { return nil }
        return components.count > 1 ? emoji.text(in: SkinTone(code: components[1]) ?? .none) : emoji.text
    }

    /// Returns the index in ``emoji`` of an emoji without a skin tone.
    func index(of text: String) -> Int? { byText[text] }

    /// Returns the entry for an emoji with any skin tone.
    public func emoji(text: String) -> Emoji? {
        if let index = byText[text] { return emoji[index] }
        let bare = text.unicodeScalars.filter { !$0.properties.isEmojiModifier && $0 != "\u{FE0F}" }
        let plain = String(String.UnicodeScalarView(bare))
        return (byText[plain] ?? byText[plain + "\u{FE0F}"]).map { emoji[$0] }
    }
}

extension Emoji {
    /// The emoji in a skin tone, or unchanged if it has none.
    public nonisolated func text(in tone: SkinTone) -> String {
        guard tones != .none, let modifier = tone.modifier else { return text }
        var scalars = Array(text.unicodeScalars)
        if scalars.count > 1, scalars[1] == "\u{FE0F}" { scalars.remove(at: 1) }
        scalars.insert(modifier, at: 1)
        if tones == .firstAndLast { scalars.append(modifier) }
        return String(String.UnicodeScalarView(scalars))
    }
}
