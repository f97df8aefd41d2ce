/// Estimates how deeply a text nests quotes and lists from the beginnings of its lines.
///
/// For each blank line a CommonMark parser visits all open containers, so its time is quadratic in the worst case: 100
/// kB of `1. ` and line breaks take MD4C 0.2 s, 1 MB more than 5 s. Everything else is linear. ``MessageBody`` is
/// limited to 80 levels.
struct ContainerDepth {
    private static let maxDepth = 200

    /// Whether the nesting is small enough to parse. The estimate may be twice the real depth and is never less.
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
                // CRLF is one line break: counting two would see a blank line, which closes containers.
                let isTwoBytes = start + 1 < bytes.count && bytes[start] == 0x0D && bytes[start + 1] == 0x0A
                start += isTwoBytes ? 2 : 1
            }
            return true
        }
    }

    private var depth = 0
    private var followsBlank = true

    /// Containers stay open over blank lines and lazy continuation lines.
    private mutating func apply(_ prefix: Prefix) {
        if !prefix.isBlank {
            let remainingDepth = min(depth, prefix.columns / 2)
            depth = followsBlank ? remainingDepth + prefix.markers : max(depth, remainingDepth + prefix.markers)
        }
        followsBlank = prefix.isBlank
    }

    /// The start of a line: white space and possible container markers.
    private struct Prefix {
        private(set) var markers = 0
        private(set) var columns = 0
        /// The position of the content.
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
                // CommonMark allows at most nine digits.
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
