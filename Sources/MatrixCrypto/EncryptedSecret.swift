public import Foundation
public import Ratchets

/// A secret encrypted with a 32-byte key under a name: AES-256 in counter mode and HMAC-SHA-256, as
/// `m.secret_storage.v1.aes-hmac-sha2` in the specification's "Secret storage".
public struct EncryptedSecret: Codable, Equatable, Sendable {
    public let iv: Data
    public let ciphertext: Data
    public let mac: Data

    public init(iv: Data, ciphertext: Data, mac: Data) {
        self.iv = iv
        self.ciphertext = ciphertext
        self.mac = mac
    }

    /// Encrypts with a random initialization vector.
    public init(_ secret: [UInt8], name: String, key: KeyMaterial) throws(RatchetError) {
        var iv = try Randomness.bytes(16)
        // The specification clears bit 63 to work around differences between AES-CTR implementations.
        iv[8] &= 0x7F
        try self.init(secret, name: name, key: key, iv: iv)
    }

    /// - Parameter iv: 16 bytes that must not be reused with this key and name.
    init(_ secret: [UInt8], name: String, key: KeyMaterial, iv: [UInt8]) throws(RatchetError) {
        let keys = try Self.keys(name: name, key: key)
        let ciphertext = try CounterCipher(key: keys.encryption, counter: iv).apply(to: secret)
        self.iv = Data(iv)
        self.ciphertext = Data(ciphertext)
        mac = Data(try KeyDerivation.hmacSHA256(of: ciphertext, key: keys.mac))
    }

    /// - Throws: ``RatchetError/mac`` if the key or the name is wrong, or the secret was modified.
    public func decrypt(name: String, key: KeyMaterial) throws(RatchetError) -> [UInt8] {
        guard iv.count == 16 else { throw .malformed }
        let keys = try Self.keys(name: name, key: key)
        // Verified before decryption: a valid MAC proves that the writer had the key.
        let expected = try KeyDerivation.hmacSHA256(of: Array(ciphertext), key: keys.mac)
        guard ConstantTime.equal(Array(mac), expected) else { throw .mac }
        return try CounterCipher(key: keys.encryption, counter: Array(iv)).apply(to: Array(ciphertext))
    }

    private static func keys(
        name: String, key: KeyMaterial
    ) throws(RatchetError) -> (encryption: KeyMaterial, mac: [UInt8]) {
        let input = key.withBytes { Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)) }
        let derived = try KeyDerivation.hkdfSHA256(
            input: input, salt: [UInt8](repeating: 0, count: 32), info: Array(name.utf8), count: 64)
        return (try KeyMaterial(bytes: derived.prefix(32)), Array(derived.suffix(32)))
    }
}
