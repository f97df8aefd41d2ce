import Foundation

/// An emoji, and what people call it.
public nonisolated struct Emoji: Hashable, Sendable {
    /// Where a skin tone's modifier goes.
    public enum ToneRule: Int, Sendable {
        case none, first, firstAndLast
    }

    /// Without a skin tone.
    public var text: String
    public var tones: ToneRule
    /// Short codes without their colons; there is at least one.
    public var codes: [String]
    /// In the user's language, or in English where that has none.
    public var name: String
    /// What else finds it, in both languages.
    public var keywords: [String]
}

/// A skin tone, of the Fitzpatrick scale.
public nonisolated enum SkinTone: Int, CaseIterable, Sendable {
    case none, light, mediumLight, medium, mediumDark, dark

    fileprivate var modifier: Unicode.Scalar? {
        self == .none ? nil : Unicode.Scalar(0x1F3FA + UInt32(rawValue))
    }

    /// The short code's number: tones are counted from 2, as the scale's first two share a modifier.
    var code: String { "skin-tone-\(rawValue + 1)" }

    init?(code: Substring) {
        guard let tone = Self.allCases.first(where: { $0 != .none && code == $0.code }) else { return nil }
        self = tone
    }
}

/// All emoji, in the order in which pickers show them.
public nonisolated struct EmojiCatalog: Sendable {
    public let emoji: [Emoji]
    private let byCode: [String: Int]
    private let byText: [String: Int]

    public struct Malformed: Error, Equatable, Sendable {
        /// The number of the line, from 1, of those that are no comments.
        public let line: Int
    }

    /// Reads what `build-aux/emoji-data` wrote: the list, and names by its lines in a language and in English.
    ///
    /// - Throws: ``Malformed`` if a line of the list is.
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

    /// Lines that are no comments.
    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("# ") }
    }

    /// The emoji with a short code.
    public func emoji(code: some StringProtocol) -> Emoji? { byCode[String(code)].map { emoji[$0] } }

    /// What a short code stands for, with a skin tone or without: `wave`, `wave::skin-tone-3`.
    public func text(ofCode code: String) -> String? {
        let components = code.split(separator: ":", omittingEmptySubsequences: true)
        guard let first = components.first, let emoji = emoji(code: first) else { return nil }
        return components.count > 1 ? emoji.text(in: SkinTone(code: components[1]) ?? .none) : emoji.text
    }

    /// Where an emoji without a skin tone stands in ``emoji``.
    func index(of text: String) -> Int? { byText[text] }

    /// The emoji that a text is, whatever its skin tone.
    public func emoji(text: String) -> Emoji? {
        if let index = byText[text] { return emoji[index] }
        let bare = text.unicodeScalars.filter { !$0.properties.isEmojiModifier && $0 != "\u{FE0F}" }
        let plain = String(String.UnicodeScalarView(bare))
        return (byText[plain] ?? byText[plain + "\u{FE0F}"]).map { emoji[$0] }
    }
}

extension Emoji {
    /// The emoji in a skin tone, if it has any.
    public nonisolated func text(in tone: SkinTone) -> String {
        guard tones != .none, let modifier = tone.modifier else { return text }
        var scalars = Array(text.unicodeScalars)
        if scalars.count > 1, scalars[1] == "\u{FE0F}" { scalars.remove(at: 1) }
        scalars.insert(modifier, at: 1)
        if tones == .firstAndLast { scalars.append(modifier) }
        return String(String.UnicodeScalarView(scalars))
    }
}
