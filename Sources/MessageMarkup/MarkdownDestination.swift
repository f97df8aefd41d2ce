/// Link destinations of Markdown (CommonMark 0.31, "Link destination"), in the form without angle brackets: exports
/// escape each `<`, for programs that read HTML within Markdown.
public enum MarkdownDestination {
    /// The nesting of parentheses up to which they need no backslashes. Some readers count to 32.
    private static let maxDepth = 20

    /// Returns the destination of an address, which may be any text: reading it gives that text. Only NUL is lost,
    /// which Markdown does not have.
    public static func written(_ address: String) -> String {
        let (keepsParentheses, mayHaveReferences) = (isBalanced(address), address.utf8.contains(UInt8(ascii: ";")))
        return escaped(address.unicodeScalars) { scalar in
            switch scalar {
            // Square brackets may stay, but not every reader gets those right that look like another link.
            case "\\", "<", ">", "[", "]": .backslash
            case "(", ")": keepsParentheses ? .none : .backslash
            case "&": mayHaveReferences ? .backslash : .none
            default: escape(of: scalar)
            }
        }
    }

    /// Returns a text without the angle brackets around what looks like a link destination. It may be something else,
    /// such as code: the caller checks that the text reads the same. Returns `nil` if nothing looks like one.
    public static func withoutBrackets(_ source: String) -> String? {
        let scalars = Array(source.unicodeScalars)
        var result = String.UnicodeScalarView()
        var (copied, index) = (0, 0)
        while let start = scalars[index...].firstIndex(of: "<") {
            index = start + 1
            guard followsLinkText(start, in: scalars), let close = end(of: start, in: scalars) else { continue }
            result.append(contentsOf: scalars[copied..<start])
            result.append(contentsOf: rewritten(scalars[(start + 1)..<close]).unicodeScalars)
            (copied, index) = (close + 1, close + 1)
        }
        guard copied > 0 else { return nil }
        result.append(contentsOf: scalars[copied...])
        return String(result)
    }

    private enum Escape {
        case none, backslash
        /// A numeric character reference.
        case reference
    }

    private static func escaped(
        _ scalars: some Sequence<Unicode.Scalar>, _ escape: (Unicode.Scalar) -> Escape
    ) -> String {
        var result = String.UnicodeScalarView()
        for scalar in scalars {
            switch escape(scalar) {
            case .none: result.append(scalar)
            case .backslash:
                result.append("\\")
                result.append(scalar)
            case .reference: result.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
            }
        }
        return String(result)
    }

    /// What a destination cannot contain, and what would be markup all the same: a backtick, which may end a code span,
    /// a bar, which ends a cell of a table, and line breaks that only some programs know.
    private static func escape(of scalar: Unicode.Scalar) -> Escape {
        switch scalar.value {
        case 0...0x20, 0x7F, 0x60, 0x7C, 0x85, 0x2028, 0x2029: .reference
        default: .none
        }
    }

    private static func isBalanced(_ address: String) -> Bool {
        var depth = 0
        let isWithinLimits = address.utf8.allSatisfy { byte in
            depth += byte == UInt8(ascii: "(") ? 1 : byte == UInt8(ascii: ")") ? -1 : 0
            return (0...maxDepth).contains(depth)
        }
        return isWithinLimits && depth == 0
    }

    // MARK: Angle brackets

    /// Whether a bracket is where a destination begins: after `](` or `]:`, with white space and at most one line break
    /// in between.
    private static func followsLinkText(_ bracket: Int, in scalars: [Unicode.Scalar]) -> Bool {
        var index = bracket
        var breaks = 0
        while index > 0, breaks < 2 {
            index -= 1
            switch scalars[index] {
            case " ", "\t": continue
            case "\n", "\r": breaks += 1
            case "(", ":": return index > 0 && scalars[index - 1] == "]"
            default: return false
            }
        }
        return false
    }

    /// Returns the index of the bracket that ends a destination; `nil` if a line break or another one comes first.
    private static func end(of start: Int, in scalars: [Unicode.Scalar]) -> Int? {
        var index = start + 1
        while index < scalars.count {
            switch scalars[index] {
            case ">": return index
            case "<", "\n", "\r": return nil
            case "\\" where index + 1 < scalars.count && isPunctuation(scalars[index + 1]): index += 2
            default: index += 1
            }
        }
        return nil
    }

    /// Returns what stands between brackets as it is without them. Its escapes and character references stay.
    private static func rewritten(_ content: ArraySlice<Unicode.Scalar>) -> String {
        var result = ""
        var index = content.startIndex
        while index < content.endIndex {
            let (scalar, next) = (content[index], index + 1)
            index += 1
            if scalar == "\\" {
                // One that escapes nothing is a backslash, and must not escape what becomes of the next character.
                guard next < content.endIndex, isPunctuation(content[next]) else {
                    result += "\\\\"
                    continue
                }
                index += 1
                // A reference in place of an escaped backtick or bar: a backslash does not help there.
                result += escape(of: content[next]) == .none ? "\\" + String(content[next]) : written(content[next])
            } else {
                result += "()[]".unicodeScalars.contains(scalar) ? "\\" + String(scalar) : written(scalar)
            }
        }
        return result
    }

    private static func written(_ scalar: Unicode.Scalar) -> String { escaped([scalar], escape) }

    /// Whether a backslash escapes it: ASCII punctuation.
    private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
