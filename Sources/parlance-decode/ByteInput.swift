import ConfinedDecoding
import Glibc
import PictureDecoding

/// The file on the standard input, up to ``PictureLimits/bytes``.
struct ByteInput {
    private var ahead: [UInt8] = []
    private var count = 0

    /// The first bytes, which are read again afterwards.
    mutating func peek(_ wanted: Int) -> [UInt8] {
        while ahead.count < wanted, let more = readMore(wanted - ahead.count) { ahead += more }
        return ahead
    }

    /// The next piece; nil at the end.
    mutating func next() -> [UInt8]? {
        guard ahead.isEmpty else {
            defer { ahead = [] }
            return ahead
        }
        return readMore(1 << 16)
    }

    /// All of it.
    mutating func rest() -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = next() { bytes += piece }
        return bytes
    }

    private mutating func readMore(_ wanted: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            repeat { count = max(0, read(0, buffer.baseAddress, wanted)) } while count == 0 && errno == EINTR
        }
        count += bytes.count
        if count > PictureLimits.bytes { RecordOutput.fail(.tooLarge) }
        return bytes.isEmpty ? nil : bytes
    }
}
