/// The marks of emphasis that may be open at a place of a paragraph, and how often a parser looks at one in vain.
///
/// Why: for a closing mark cmark-gfm looks back through all that are open. Where it finds the opening one, all between
/// are done with; where it does not, the next mark may go the same way. This errs upwards: a pair
/// counts as found only within one piece of a line, in which either all marks are markup or none is. Whatever may begin
/// or end code, a tag, an address, a cell or a block ends a piece.
struct OpenMarks {
    private struct Mark {
        let character: UInt8
        let length: Int
    }

    /// What stands beside a mark, as far as it decides whether the mark opens or closes.
    private enum Neighbour {
        case space, sign, letter, unknown
    }

    /// Those that were opened in this piece, in their order, above all others.
    private var own: [Mark] = []
    /// Those that may be open from before.
    private var others = 0
    /// All of the paragraph: they are matched at its end, and until then each link goes by them.
    private var all = 0
    /// How many were looked at in vain.
    private(set) var vain = 0

    mutating func endPiece() {
        others += own.count
        own.removeAll(keepingCapacity: true)
    }

    mutating func endParagraph() {
        own.removeAll(keepingCapacity: true)
        (others, all) = (0, 0)
    }

    mutating func endLink() {
        vain += all
        endPiece()
    }

    /// For a closing mark of which nobody knows the opening one.
    private mutating func lookInVain() {
        vain += others + own.count
        endPiece()
    }

    /// - Parameters:
    ///   - run: equal marks, with another character on each side.
    ///   - line: the line around them, without its end.
    mutating func take(_ run: Range<Int>, of bytes: UnsafeBufferPointer<UInt8>, in line: Range<Int>) {
        all += 1
        let mark = Mark(character: bytes[run.lowerBound], length: run.count)
        let before = Self.neighbour(before: run.lowerBound, bytes, line)
        let after = Self.neighbour(after: run.upperBound, bytes, line)
        let isTilde = mark.character == UInt8(ascii: "~")
        guard before != .unknown, after != .unknown, !isTilde || run.count <= 2 else {
            lookInVain()
            others += 1
            return
        }
        let isLeft = after != .space && (after != .sign || before != .letter)
        let isRight = before != .space && (before != .sign || after != .letter)
        let isWordy = mark.character == UInt8(ascii: "_")
        let opens = isLeft && (!isWordy || !isRight || before == .sign)
        let closes = isRight && (!isWordy || !isLeft || after == .sign)
        if closes, close(mark) { return }
        if opens { own.append(mark) }
    }

    /// - Returns: whether the mark and its opening one are used up.
    private mutating func close(_ mark: Mark) -> Bool {
        guard let place = own.lastIndex(where: { $0.character == mark.character }), own[place].length == mark.length
        else {
            lookInVain()
            return false
        }
        own.removeSubrange(place...)
        return true
    }

    private static func neighbour(
        before place: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ line: Range<Int>
    ) -> Neighbour {
        guard place > line.lowerBound else { return .space }
        var start = place - 1
        while start > line.lowerBound, bytes[start] & 0xC0 == 0x80 { start -= 1 }
        return neighbour(UnsafeBufferPointer(rebasing: bytes[start..<place]))
    }

    private static func neighbour(
        after place: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ line: Range<Int>
    ) -> Neighbour {
        guard place < line.upperBound else { return .space }
        var end = place + 1
        while end < line.upperBound, bytes[end] & 0xC0 == 0x80 { end += 1 }
        return neighbour(UnsafeBufferPointer(rebasing: bytes[place..<end]))
    }

    private static func neighbour(_ scalar: UnsafeBufferPointer<UInt8>) -> Neighbour {
        switch scalar[0] {
        case 0x20, 0x09: return .space
        // At the edge of a cell or a quote the parser sees a space; it looks past tildes.
        case ..<0x20, 0x7F, UInt8(ascii: "|"), UInt8(ascii: ">"), UInt8(ascii: "~"): return .unknown
        case let byte where byte < 0x80: return byte.isLetter || byte.isDigit ? .letter : .sign
        default:
            let category = String(decoding: scalar, as: UTF8.self).unicodeScalars.first?.properties.generalCategory
            switch category {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
                .nonspacingMark, .spacingMark, .decimalNumber:
                return .letter
            default: return .unknown
            }
        }
    }
}
