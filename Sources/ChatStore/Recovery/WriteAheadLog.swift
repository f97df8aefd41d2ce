import Foundation

/// A parser of SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
///
/// SQLite takes the first frame with a wrong checksum for the end of the log, and silently drops later commits. After a
/// regular end there are no frames with the current salts; after damage there are.
struct WriteAheadLog {
    struct Frame {
        let page: Int
        let isCommit: Bool
        /// The range of the page's content in the file.
        let content: Range<Int>
    }

    /// The intact frames, in order. Each is verified separately, based on the stored checksum of the frame before it.
    let frames: [Frame]
    /// Whether there is a commit after a damaged frame.
    let isDamaged: Bool
    let pageSize: Int

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// Returns why the log of a database is damaged, or `nil` if it is intact.
    static func damage(of file: DatabaseFile) -> String? {
        // A log that cannot be read is left to SQLite, which opens it next and reports why.
        guard file.logSize > 0, let bytes = try? Data(contentsOf: URL(fileURLWithPath: file.log)) else { return nil }
        return bytes.withUnsafeBytes { WriteAheadLog($0) }.isDamaged
            ? "the write-ahead log is damaged before its end" : nil
    }

    /// Parses a log that may be truncated or overwritten anywhere.
    init(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize else {
            (frames, isDamaged, pageSize) = ([], false, Self.commonPageSize)
            return
        }
        let magic = bytes.word(0)
        var isValid = magic & ~1 == 0x377f_0682
        let isBigEndian = isValid ? magic & 1 == 1 : false
        let size = Int(bytes.word(8))
        pageSize = [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536].contains(size) ? size : Self.commonPageSize
        isValid =
            isValid && size == pageSize
            && Checksum(first: 0, second: 0).over(bytes, 0..<24, isBigEndian) == Checksum(at: 24, in: bytes)
        let salts = Self.salts(bytes, isValid: isValid, pageSize: pageSize, isBigEndian: isBigEndian)
        let length = Self.frameHeaderSize + pageSize
        var found: [Frame] = []
        var isBroken = !isValid
        var isDamaged = false
        var before = Checksum(at: 24, in: bytes)
        for start in stride(from: Self.headerSize, to: bytes.count - length + 1, by: length) {
            let storedSum = Checksum(at: start + 16, in: bytes)
            let content = start + Self.frameHeaderSize..<start + length
            let sum = before.over(bytes, start..<start + 8, isBigEndian).over(bytes, content, isBigEndian)
            // Left over from before the log was restarted.
            guard (bytes.word(start + 8), bytes.word(start + 12)) == salts else {
                isBroken = true
                before = storedSum
                continue
            }
            before = storedSum
            guard sum == storedSum else {
                isBroken = true
                continue
            }
            let frame = Frame(
                page: Int(bytes.word(start)), isCommit: bytes.word(start + 4) != 0, content: content)
            found.append(frame)
            if isBroken, frame.isCommit { isDamaged = true }
        }
        frames = found
        self.isDamaged = isDamaged
    }

    /// The page size of all stores.
    static let commonPageSize = 4096

    /// Returns the salts of this log's frames, from the header. If that is damaged, returns the first salts that two
    /// intact frames share: checksums do not cover salts, so a single frame proves nothing. Frames of earlier
    /// generations come later in the file, because a restarted log overwrites it from the beginning.
    private static func salts(
        _ bytes: UnsafeRawBufferPointer, isValid: Bool, pageSize: Int, isBigEndian: Bool
    ) -> (UInt32, UInt32) {
        if isValid { return (bytes.word(16), bytes.word(20)) }
        let length = frameHeaderSize + pageSize
        var before = Checksum(at: 24, in: bytes)
        var first: (UInt32, UInt32)?
        var seen: Set<UInt64> = []
        for start in stride(from: headerSize, to: bytes.count - length + 1, by: length) {
            let storedSum = Checksum(at: start + 16, in: bytes)
            let content = start + frameHeaderSize..<start + length
            if before.over(bytes, start..<start + 8, isBigEndian).over(bytes, content, isBigEndian) == storedSum {
                let salt = (bytes.word(start + 8), bytes.word(start + 12))
                guard seen.insert(UInt64(salt.0) << 32 | UInt64(salt.1)).inserted else { return salt }
                first = first ?? salt
            }
            before = storedSum
        }
        return first ?? (bytes.word(16), bytes.word(20))
    }
}

/// The log's cumulative checksum.
private struct Checksum: Equatable {
    var first: UInt32
    var second: UInt32

    init(first: UInt32, second: UInt32) {
        self.first = first
        self.second = second
    }

    /// Reads a stored checksum.
    init(at offset: Int, in bytes: UnsafeRawBufferPointer) {
        self.init(first: bytes.word(offset), second: bytes.word(offset + 4))
    }

    func over(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ isBigEndian: Bool) -> Checksum {
        var (first, second) = (first, second)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            first &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
            second &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
        }
        return Checksum(first: first, second: second)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns a big-endian 32-bit integer, or 0 past the end.
    fileprivate func word(_ offset: Int) -> UInt32 {
        guard offset >= 0, offset + 4 <= count else { return 0 }
        return UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
