/// The language of a code block, as its author named it.
struct CodeLanguage {
    /// Lowercased; letters, digits and a few signs, at most 40.
    let name: String

    /// - Parameter info: what stands after the fence; its first word is the language.
    init?(info: String) {
        let word = info.prefix { !$0.isWhitespace && $0 != "," && $0 != "{" }.lowercased()
        guard !word.isEmpty, word.utf8.count <= 40,
            word.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "+-#_.".utf8.contains($0) })
        else { return nil }
        name = word
    }

    /// - Parameter className: the value of a `class` attribute; only `language-…` counts.
    init?(className: String) {
        for word in className.split(whereSeparator: \.isWhitespace) where word.lowercased().hasPrefix("language-") {
            self.init(info: String(word.dropFirst(9)))
            return
        }
        return nil
    }
}
