/// Formats styles of other programs as Markdown.
enum MarkdownFormatter {
    /// Puts delimiters around a text, inside white space at its ends, where they would not be delimiters.
    static func around(_ text: String, _ delimiter: String) -> String {
        let start = text.prefix { $0.isWhitespace }
        let rest = text.dropFirst(start.count)
        guard !rest.isEmpty else { return text }
        var end = rest.endIndex
        while end > rest.startIndex, rest[rest.index(before: end)].isWhitespace { end = rest.index(before: end) }
        return start + delimiter + rest[..<end] + delimiter + rest[end...]
    }

    static func code(_ text: String) -> String {
        let fence = String(repeating: "`", count: longestRun(of: "`", in: text) + 1)
        let pad = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
        return fence + pad + text + pad + fence
    }

    static func block(_ text: String, language: String) -> String {
        let fence = String(repeating: "`", count: max(3, longestRun(of: "`", in: text) + 1))
        let language = language.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "+-#".contains($0)) }
        return "\n\(fence)\(language)\n\(text)\n\(fence)\n"
    }

    static func quote(_ text: String) -> String {
        "\n" + text.split(separator: "\n", omittingEmptySubsequences: false).map { "> " + $0 }.joined(separator: "\n")
            + "\n\n"
    }

    static func link(_ text: String, _ target: String) -> String {
        guard !target.isEmpty, !target.contains(where: { $0.isWhitespace || "<>".contains($0) }) else { return text }
        let label = text.replacing("[", with: "\\[").replacing("]", with: "\\]")
        // A backslash would escape what follows it, and an ampersand may begin a character reference.
        let literal = target.replacing("\\", with: "\\\\")
        let destination = literal.contains(";") ? literal.replacing("&", with: "\\&") : literal
        return "[\(label)](<\(destination)>)"
    }

    static func longestRun(of delimiter: Character, in text: String) -> Int {
        var (longest, run) = (0, 0)
        for character in text {
            run = character == delimiter ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }
}
