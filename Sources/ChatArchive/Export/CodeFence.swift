/// The opening fence of a Markdown code block without indentation.
///
/// Compares scalars, not characters, as Markdown parsers do: a backtick with a combining mark is still a backtick.
struct CodeFence {
    private let delimiter: Unicode.Scalar
    private let length: Int

    /// Returns `nil` unless the line certainly opens a code block.
    init?(opening line: Substring) {
        guard let delimiter = line.unicodeScalars.first, delimiter == "`" || delimiter == "~" else { return nil }
        let length = line.unicodeScalars.prefix { $0 == delimiter }.count
        guard length >= 3, delimiter == "~" || !line.unicodeScalars.dropFirst(length).contains("`") else { return nil }
        self.delimiter = delimiter
        self.length = length
    }

    /// Whether a line may open a code block in any container.
    static func mayOpen(in line: Substring) -> Bool {
        hasRun(of: "`", 3, in: line) || hasRun(of: "~", 3, in: line)
    }

    /// Whether a line certainly closes the block.
    func isClosed(by line: Substring) -> Bool {
        let rest = line.unicodeScalars.drop { $0 == delimiter }
        return line.unicodeScalars.count - rest.count >= length && rest.allSatisfy { $0 == " " || $0 == "\t" }
    }

    /// Whether a line may close the block, with any indentation.
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
