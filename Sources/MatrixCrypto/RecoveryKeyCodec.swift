public import ChatCore
public import Ratchets

/// The key of the secret storage as people keep it: base58 of two bytes that say what it is, the key, and a byte of
/// parity (the specification's "Key representation").
public enum RecoveryKeyCodec {
    public enum Failure: Error, Equatable, Sendable {
        /// It is no recovery key: a character is wrong, or too few or too many are there.
        case malformed
    }

    private static let prefix: [UInt8] = [0x8B, 0x01]
    private static let byteCount = 2 + KeyMaterial.count + 1
    /// Of characters in base58; with spaces there may be more.
    private static let maxCharacters = 60
    private static let groupSize = 4
    private static let alphabet = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)

    /// In groups of four characters.
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

    /// - Parameter text: As typed: spaces and line breaks are ignored wherever they are.
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

    /// Whether somebody may have meant to type a recovery key, and mistyped it.
    static func resembles(_ text: String) -> Bool {
        let digits = text.unicodeScalars.filter { !$0.properties.isWhitespace }
        // All begin so, as the bytes of the prefix do.
        return (40...maxCharacters).contains(digits.count) && digits.starts(with: "Es".unicodeScalars)
    }

    /// All bytes of a recovery key together have a parity of zero.
    private static func parity(of bytes: [UInt8]) -> UInt8 { bytes.reduce(0, ^) }

    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        // Digits of base 58, the last one first.
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
