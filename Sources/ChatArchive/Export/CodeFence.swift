/// The line of backticks or tildes that begins a block of code in Markdown, at the very beginning of its line.
///
/// By scalars, as Markdown is read: what combines with a mark leaves it one.
struct CodeFence {
    private let delimiter: Unicode.Scalar
    private let length: Int

    /// Nil unless the line begins a block of code for sure.
    init?(opening line: Substring) {
        guard let delimiter = line.unicodeScalars.first, delimiter == "`" || delimiter == "~" else { return nil }
        let length = line.unicodeScalars.prefix { $0 == delimiter }.count
        guard length >= 3, delimiter == "~" || !line.unicodeScalars.dropFirst(length).contains("`") else { return nil }
        self.delimiter = delimiter
        self.length = length
    }

    /// Whether a line may begin a block of code, wherever its containers leave it.
    static func mayOpen(in line: Substring) -> Bool {
        hasRun(of: "`", 3, in: line) || hasRun(of: "~", 3, in: line)
    }

    /// Whether a line ends the block for sure.
    func isClosed(by line: Substring) -> Bool {
        let rest = line.unicodeScalars.drop { $0 == delimiter }
        return line.unicodeScalars.count - rest.count >= length && rest.allSatisfy { $0 == " " || $0 == "\t" }
    }

    /// Whether a line may end the block, indented as it may be.
    func mayBeClosed(by line: Substring) -> Bool { Self.hasRun(of: delimiter, length, in: line) }

    private static func hasRun(of delimiter: Unicode.Scalar, _ length: Int, in line: Substring) -> Bool {
        var count = 0
        for scalar in line.unicodeScalars {
            count = scalar == delimiter ? count + 1 : 0
            if count == length { return true }
        }
        return false
    }
}
