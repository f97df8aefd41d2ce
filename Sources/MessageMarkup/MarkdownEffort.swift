/// What parsing Markdown may cost beyond a fixed amount a byte, told by one look at each byte.
///
/// Why: cmark-gfm as Debian 12 has it (0.29.0.gfm.6) takes time and memory that grow with the square of the text where
/// containers are nested deeply (each line walks through all that are open), where short rows follow the head of a wide
/// table (each is filled up to its width), where lines that might begin a table follow each other in a paragraph (it is
/// read again for each), where links follow pictures left open (each link looks at them all), where marks of emphasis
/// cross or links follow them (``OpenMarks``), and where `<?`, `<!A` and `<![CDATA[` have no end (each is looked for up to the end of the
/// paragraph): 100 kB take up to minutes. Where marks, lines or cells are all that there is, each byte costs many times what it does in a text.
/// Nobody writes so. What is more than a hundred nanoseconds a byte is shown as it is.
struct MarkdownEffort {
    /// In about nanoseconds, as measured on the version named above.
    private enum Cost {
        static let line = 200
        static let paragraph = 200
        static let mark = 150
        static let cell = 350
        static let openContainer = 20
        static let rereadBytes = 3
        static let openPicture = 7
        static let openMark = 8
        static let tenUnendedBytes = 12
    }

    /// Whether a parser gets through it in time that grows with its length.
    static func isBearable(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            // Less than that cannot take long, whatever it is.
            if bytes.count < 256 { return true }
            var effort = MarkdownEffort(bytes)
            return effort.run(limit: 4_000_000 + 100 * bytes.count)
        }
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var spent = 0
    /// Containers that may be open.
    private var depth = 0
    private var followsBlank = true
    /// Bytes since the last blank line.
    private var paragraph = 0
    /// The columns of the table that may be open; 0 without one.
    private var columns = 0
    /// Pictures that were begun in this paragraph.
    private var pictures = 0
    /// Declarations and instructions that were begun in this paragraph.
    private var unended = 0
    private var openMarks = OpenMarks()

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private mutating func run(limit: Int) -> Bool {
        var start = 0
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
            line(start..<end)
            if spent > limit { return false }
            let isTwoBytes = end + 1 < bytes.count && bytes[end] == 0x0D && bytes[end + 1] == 0x0A
            start = end + (isTwoBytes ? 2 : 1)
        }
        return true
    }

    private mutating func line(_ range: Range<Int>) {
        let prefix = Prefix(bytes, range)
        spent += Cost.line
        let isBlank = prefix.end == range.upperBound && prefix.markers == 0
        nest(prefix, isBlank: isBlank)
        guard !isBlank else {
            (followsBlank, paragraph, columns, pictures, unended) = (true, 0, 0, 0, 0)
            openMarks.endParagraph()
            return
        }
        if followsBlank { spent += Cost.paragraph }
        followsBlank = false
        content(prefix.end..<range.upperBound, of: range)
        paragraph += range.count
    }

    /// Containers stay open over blank lines, and where a paragraph goes on without their marks.
    private mutating func nest(_ prefix: Prefix, isBlank: Bool) {
        if !isBlank {
            let kept = min(depth, prefix.columns / 2)
            depth = followsBlank ? kept + prefix.markers : max(depth, kept + prefix.markers)
        }
        spent += Cost.openContainer * depth
    }

    private mutating func content(_ range: Range<Int>, of line: Range<Int>) {
        var cells = 1
        var mayBeDelimiter = true
        var mayCloseLinks = 0
        var marks = 0
        var otherNodes = 1
        var unendedBytes = unended * line.count
        let vain = openMarks.vain
        var place = range.lowerBound
        while place < range.upperBound {
            let byte = bytes[place]
            var next = place + 1
            switch byte {
            case .dash, UInt8(ascii: ":"), 0x20, 0x09, 0x0B, 0x0C: break
            case UInt8(ascii: "|"):
                cells += 1
                openMarks.endPiece()
            case UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                mayBeDelimiter = false
                while next < range.upperBound, bytes[next] == byte { next += 1 }
                marks += next - place
                openMarks.take(place..<next, of: bytes, in: line)
            case UInt8(ascii: "&"):
                mayBeDelimiter = false
                marks += 1
            case UInt8(ascii: "`"), .lessThan:
                mayBeDelimiter = false
                marks += 1
                openMarks.endPiece()
                if byte == .lessThan, isDeclaration(place..<range.upperBound) {
                    unended += 1
                    unendedBytes += range.upperBound - place
                }
            case UInt8(ascii: "["):
                marks += 1
                mayBeDelimiter = false
                openMarks.endPiece()
                if place > range.lowerBound, bytes[place - 1] == .exclamation { pictures += 1 }
            case UInt8(ascii: "]"):
                marks += 1
                mayBeDelimiter = false
                mayCloseLinks += 1
                openMarks.endLink()
            case .greaterThan, UInt8(ascii: ")"):
                mayBeDelimiter = false
                openMarks.endPiece()
            case .exclamation:
                mayBeDelimiter = false
                otherNodes += 1
            case UInt8(ascii: "\\"):
                mayBeDelimiter = false
                otherNodes += 1
                if next < range.upperBound, Self.areTakenByBackslash.contains(bytes[next]) {
                    marks += 1
                    next += 1
                }
            default: mayBeDelimiter = false
            }
            place = next
        }
        openMarks.endPiece()
        spent += Cost.mark * marks + (columns > 0 ? Cost.cell * cells : 0)
        spent += Cost.openPicture * pictures * mayCloseLinks
        // Each node that is added looks at all it is in; of few that is nothing.
        spent += Cost.openContainer * max(0, depth - 10) * 2 * (marks + otherNodes)
        spent += Cost.openMark * (openMarks.vain - vain) + Cost.tenUnendedBytes * unendedBytes / 10
        if mayBeDelimiter {
            spent += Cost.rereadBytes * paragraph / 10
            columns = max(columns, cells)
        } else {
            spent += Cost.cell * max(0, columns - cells)
        }
    }

    private static let areTakenByBackslash = Array("\\*_~".utf8)

    /// Whether the `<` that it begins with may be searched for an end as long as the paragraph goes on. A comment ends
    /// at the next two dashes.
    private func isDeclaration(_ range: Range<Int>) -> Bool {
        guard range.count > 1 else { return false }
        if bytes[range.lowerBound + 1] == .question { return true }
        return range.count > 2 && bytes[range.lowerBound + 1] == .exclamation && bytes[range.lowerBound + 2] != .dash
    }
}

extension MarkdownEffort {
    /// The beginning of a line: white space and what may be marks of containers.
    private struct Prefix {
        private(set) var markers = 0
        private(set) var columns = 0
        /// Where the content begins.
        private(set) var end: Int

        init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
            var place = range.lowerBound
            while place < range.upperBound {
                let byte = bytes[place]
                if byte == 0x20 || byte == 0x09 {
                    columns += byte == 0x09 ? 4 : 1
                    place += 1
                } else if let length = Self.markerLength(bytes, place..<range.upperBound) {
                    markers += 1
                    columns += length
                    place += length
                } else {
                    break
                }
            }
            end = place
        }

        private static func markerLength(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int? {
            func isEnd(_ place: Int) -> Bool {
                place >= range.upperBound || bytes[place] == 0x20 || bytes[place] == 0x09
            }
            switch bytes[range.lowerBound] {
            case .greaterThan: return 1
            case .dash, UInt8(ascii: "*"), UInt8(ascii: "+"): return isEnd(range.lowerBound + 1) ? 1 : nil
            case let byte where byte.isDigit:
                // At most nine digits make a number of a list.
                var place = range.lowerBound
                while place < range.upperBound, place < range.lowerBound + 10, bytes[place].isDigit { place += 1 }
                guard place < range.upperBound, bytes[place] == UInt8(ascii: ".") || bytes[place] == UInt8(ascii: ")"),
                    isEnd(place + 1)
                else { return nil }
                return place + 1 - range.lowerBound
            default: return nil
            }
        }
    }
}
