/// Counts UTF-16 code units in UTF-8, eight bytes at a time, with an index of breadcrumbs.
///
/// `String.UTF16View` does so as well, but rebuilds its breadcrumbs over the whole string after each change of
/// non-ASCII text, which costs more than it saves for chunks of a few hundred bytes.
enum UTF8Scan {
    /// The number of UTF-16 code units in the first 0, 64, 128 … 448 bytes; `UInt16.max` beyond the end of the text.
    typealias Breadcrumbs = SIMD8<UInt16>

    private static let stride = 64

    static func breadcrumbs(of text: String) -> Breadcrumbs {
        withBytes(of: text) { start, bytes in
            var breadcrumbs = Breadcrumbs(repeating: .max)
            var units = 0
            breadcrumbs[0] = 0
            for crumb in 1..<Breadcrumbs.scalarCount where crumb * stride <= bytes {
                units = count(start, from: (crumb - 1) * stride, to: crumb * stride, and: units)
                breadcrumbs[crumb] = UInt16(truncatingIfNeeded: units)
            }
            return breadcrumbs
        }
    }

    /// The number of UTF-16 code units in the first `bytes` bytes, which must end on a scalar boundary.
    static func utf16Count(of text: String, bytes: Int, _ breadcrumbs: Breadcrumbs) -> Int {
        let crumb = min(bytes / stride, Breadcrumbs.scalarCount - 1)
        return withBytes(of: text) { start, _ in
            count(start, from: crumb * stride, to: bytes, and: Int(breadcrumbs[crumb]))
        }
    }

    /// The byte offset of the scalar that contains a UTF-16 offset, or the byte count if it lies beyond the text.
    static func offset(atUTF16 offset: Int, in text: String, _ breadcrumbs: Breadcrumbs) -> Int {
        // Here and below, stop strictly before the offset: the scalar at the offset may start in the preceding bytes.
        var crumb = Breadcrumbs.scalarCount - 1
        while crumb > 0, Int(breadcrumbs[crumb]) >= offset { crumb -= 1 }
        return withBytes(of: text) { start, bytes in
            var byteOffset = crumb * stride
            var units = Int(breadcrumbs[crumb])
            while byteOffset &+ 8 <= bytes {
                let next = units &+ count(start.loadUnaligned(fromByteOffset: byteOffset, as: UInt64.self))
                guard next < offset else { break }
                units = next
                byteOffset &+= 8
            }
            while byteOffset < bytes {
                units &+= count(start.load(fromByteOffset: byteOffset, as: UInt8.self))
                if units > offset { return byteOffset }
                byteOffset &+= 1
            }
            return bytes
        }
    }

    private static func count(_ start: UnsafeRawPointer, from byteOffset: Int, to end: Int, and before: Int) -> Int {
        var units = before
        var byteOffset = byteOffset
        while byteOffset &+ 8 <= end {
            units &+= count(start.loadUnaligned(fromByteOffset: byteOffset, as: UInt64.self))
            byteOffset &+= 8
        }
        while byteOffset < end {
            units &+= count(start.load(fromByteOffset: byteOffset, as: UInt8.self))
            byteOffset &+= 1
        }
        return units
    }

    /// Counts a scalar at its lead byte: one unit, or two for a four-byte sequence.
    private static func count(_ byte: UInt8) -> Int {
        UTF8.isContinuation(byte) ? 0 : byte >= 0xF0 ? 2 : 1
    }

    /// Counts eight bytes at once: each byte of the sum is 0, 1 or 2, and one multiplication adds them up.
    private static func count(_ word: UInt64) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let continuing = (word & ~(word << 1)) >> 7
        let four = (word & (word << 1) & (word << 2) & (word << 3)) >> 7
        return Int(truncatingIfNeeded: ((ones &- (continuing & ones) &+ (four & ones)) &* ones) >> 56)
    }

    /// Passes the scalars from a byte offset on to `body` until it returns `false`.
    ///
    /// Iterating over `String.UnicodeScalarView` takes several times as long.
    /// - Returns: whether `body` returned `true` for all of them.
    static func scalars(of text: String, from offset: Int, _ body: (Unicode.Scalar) -> Bool) -> Bool {
        withBytes(of: text) { start, bytes in
            var offset = offset
            while offset < bytes {
                let (scalar, length) = scalar(at: start + offset)
                guard body(scalar) else { return false }
                offset &+= length
            }
            return true
        }
    }

    /// Passes the scalars before a byte offset to `body`, nearest first, until it returns `false`.
    /// - Returns: whether `body` returned `true` for all of them.
    static func scalars(of text: String, before offset: Int, _ body: (Unicode.Scalar) -> Bool) -> Bool {
        withBytes(of: text) { start, _ in
            var offset = offset
            while offset > 0 {
                offset &-= 1
                while UTF8.isContinuation(start.load(fromByteOffset: offset, as: UInt8.self)) { offset &-= 1 }
                guard body(scalar(at: start + offset).scalar) else { return false }
            }
            return true
        }
    }

    /// Whether any byte satisfies the condition.
    static func contains(in text: String, where condition: (UInt8) -> Bool) -> Bool {
        withBytes(of: text) { start, bytes in
            for offset in 0..<bytes where condition(start.load(fromByteOffset: offset, as: UInt8.self)) { return true }
            return false
        }
    }

    /// Decodes the scalar at its lead byte. The bytes of a `String` are valid UTF-8.
    private static func scalar(at start: UnsafeRawPointer) -> (scalar: Unicode.Scalar, length: Int) {
        let lead = start.load(as: UInt8.self)
        if lead < 0x80 { return (Unicode.Scalar(lead), 1) }
        let length = (~lead).leadingZeroBitCount
        var value = UInt32(lead) & (0xFF >> UInt32(length + 1))
        for offset in 1..<length {
            value = value << 6 | UInt32(start.load(fromByteOffset: offset, as: UInt8.self) & 0x3F)
        }
        return (Unicode.Scalar(value)!, length)
    }

    private static func withBytes<Result>(of text: String, _ body: (UnsafeRawPointer, Int) -> Result) -> Result {
        // Contiguous UTF-8 has a base address even if it is empty; other strings take the copying path below.
        if let result = text.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawPointer($0.baseAddress!), $0.count) }
        ) {
            return result
        }
        var copy = text
        return copy.withUTF8 { body(UnsafeRawPointer($0.baseAddress!), $0.count) }
    }
}
