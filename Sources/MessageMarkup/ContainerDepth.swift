/// How deep a text nests quotes and lists, told by one look at the beginning of each line.
///
/// Why: for a blank line every parser of CommonMark walks through all lists that are open, so that its time grows with
/// the square of the text where many are: 100 kB of `1. ` and line breaks take MD4C 0.2 s, 1 MB more than 5 s. All else
/// in it is linear.
/// ``MessageBody`` is never deeper than 80; what is deeper than 100 is shown as it is.
struct ContainerDepth {
    private static let maxDepth = 200

    /// Whether no more are open than it takes to write a message. It may count twice what there is, and never less.
    static func isBearable(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var counter = ContainerDepth()
            var start = 0
            while start < bytes.count {
                let prefix = Prefix(bytes, from: start)
                counter.apply(prefix)
                if counter.depth > maxDepth { return false }
                start = prefix.end
                while start < bytes.count, bytes[start] != 0x0A, bytes[start] != 0x0D { start += 1 }
                // Both together end one line: a blank one between would close what is open.
                let isTwoBytes = start + 1 < bytes.count && bytes[start] == 0x0D && bytes[start + 1] == 0x0A
                start += isTwoBytes ? 2 : 1
            }
            return true
        }
    }

    private var depth = 0
    private var followsBlank = true

    /// Containers stay open over blank lines, and where a paragraph goes on without their marks.
    private mutating func apply(_ prefix: Prefix) {
        if !prefix.isBlank {
            let remainingDepth = min(depth, prefix.columns / 2)
            depth = followsBlank ? remainingDepth + prefix.markers : max(depth, remainingDepth + prefix.markers)
        }
        followsBlank = prefix.isBlank
    }

    /// The beginning of a line: white space and what may be marks of containers.
    private struct Prefix {
        private(set) var markers = 0
        private(set) var columns = 0
        /// Where the content begins.
        private(set) var end: Int
        private(set) var isBlank = false

        init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
            var position = start
            while position < bytes.count {
                let byte = bytes[position]
                if byte == 0x20 || byte == 0x09 {
                    columns += byte == 0x09 ? 4 : 1
                    position += 1
                } else if let length = Self.markerLength(bytes, position) {
                    markers += 1
                    columns += length
                    position += length
                } else {
                    break
                }
            }
            end = position
            isBlank = markers == 0 && Self.isEnd(bytes, position)
        }

        private static func isEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
            position >= bytes.count || bytes[position] == 0x0A || bytes[position] == 0x0D
        }

        private static func endsMarker(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
            isEnd(bytes, position) || bytes[position] == 0x20 || bytes[position] == 0x09
        }

        private static func markerLength(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
            switch bytes[start] {
            case .greaterThan: return 1
            case .dash, UInt8(ascii: "*"), UInt8(ascii: "+"): return endsMarker(bytes, start + 1) ? 1 : nil
            case let byte where byte.isDigit:
                // At most nine digits make a number of a list.
                var position = start
                while position < bytes.count, position < start + 10, bytes[position].isDigit { position += 1 }
                guard position < bytes.count,
                    bytes[position] == UInt8(ascii: ".") || bytes[position] == UInt8(ascii: ")"),
                    endsMarker(bytes, position + 1)
                else { return nil }
                return position + 1 - start
            default: return nil
            }
        }
    }
}
