/// The language of a code block, from its info string or class.
struct CodeLanguage {
    /// Lowercase letters, digits and `+-#_.`; at most 40 bytes.
    let name: String

    /// - Parameter info: The info string of a fence, whose first word is the language.
    init?(info: String) {
        let word = info.utf8.prefix { !$0.isSpace && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "{") }
        guard !word.isEmpty, word.count <= 40,
            word.allSatisfy({ $0.isLetter || $0.isDigit || "+-#_.".utf8.contains($0) })
        else { return nil }
        name = String(decoding: word.map(\.lowercased), as: UTF8.self)
    }

    /// - Parameter className: A `class` attribute; only `language-…` is used.
    init?(className: String) {
        for word in className.split(whereSeparator: \.isWhitespace) where word.lowercased().hasPrefix("language-") {
            self.init(info: String(word.dropFirst(9)))
            return
        }
        return nil
    }
}
