public import ChatCore
public import Ratchets

/// The secret storage key in the form users save: base58 of a two-byte prefix, the key and a parity byte (the
/// specification's "Key representation").
public enum RecoveryKeyCodec {
    public enum Failure: Error, Equatable, Sendable {
        /// It is not a recovery key: a character, the length or the parity is wrong.
        case malformed
    }

    private static let prefix: [UInt8] = [0x8B, 0x01]
    private static let byteCount = 2 + KeyMaterial.count + 1
    /// The number of base58 characters; whitespace does not count.
    private static let maxCharacters = 60
    private static let groupSize = 4
    private static let alphabet = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)

    /// Returns the recovery key in groups of four characters.
    public static func text(of key: KeyMaterial) -> RecoveryKey {
        var bytes = prefix + key.withBytes { Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)) }
        bytes.append(parity(of: bytes))
        let digits = encoded(bytes)
        var text = ""
        for (offset, digit) in digits.enumerated() {
            if offset > 0, offset.isMultiple(of: groupSize) { text.append(" ") }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return RecoveryKey(text)
    }

    /// - Parameter text: As typed; whitespace is ignored.
    public static func key(from text: String) throws(Failure) -> KeyMaterial {
        var digits: [UInt8] = []
        for scalar in text.unicodeScalars where !scalar.properties.isWhitespace {
            guard digits.count < maxCharacters, scalar.isASCII else { throw .malformed }
            digits.append(UInt8(scalar.value))
        }
        let bytes = try decoded(digits)
        guard bytes.count == byteCount, bytes.starts(with: prefix), parity(of: bytes) == 0,
            let key = try? KeyMaterial(bytes: bytes[2..<2 + KeyMaterial.count])
        else { throw .malformed }
        return key
    }

    /// Whether the text looks like a mistyped recovery key.
    static func resembles(_ text: String) -> Bool {
        let digits = text.unicodeScalars.filter { !$0.properties.isWhitespace }
        // The prefix bytes make every recovery key begin with these letters.
        return (40...maxCharacters).contains(digits.count) && digits.starts(with: "Es".unicodeScalars)
    }

    /// The XOR of the bytes, which is zero for a complete recovery key.
    private static func parity(of bytes: [UInt8]) -> UInt8 { bytes.reduce(0, ^) }

    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        // Base58 digits, least significant first.
        var digits: [UInt8] = []
        for byte in bytes {
            var rest = Int(byte)
            for index in digits.indices {
                rest += Int(digits[index]) << 8
                digits[index] = UInt8(rest % 58)
                rest /= 58
            }
            while rest > 0 {
                digits.append(UInt8(rest % 58))
                rest /= 58
            }
        }
        let zeros = bytes.prefix { $0 == 0 }.count
        return Array(repeating: alphabet[0], count: zeros) + digits.reversed().map { alphabet[Int($0)] }
    }

    private static func decoded(_ text: [UInt8]) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        for character in text {
            guard var rest = alphabet.firstIndex(of: character) else { throw .malformed }
            for index in bytes.indices {
                rest += Int(bytes[index]) * 58
                bytes[index] = UInt8(rest & 0xFF)
                rest >>= 8
            }
            while rest > 0 {
                bytes.append(UInt8(rest & 0xFF))
                rest >>= 8
            }
        }
        let zeros = text.prefix { $0 == alphabet[0] }.count
        return Array(repeating: 0, count: zeros) + bytes.reversed()
    }
}
