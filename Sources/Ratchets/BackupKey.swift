import CRatchets

/// A session in the backup on the server, encrypted with the backup's public key. The MAC covers no data, so it proves
/// neither integrity nor origin.
public struct BackedUpData: Hashable, Sendable {
    public let ephemeralKey: Curve25519Key
    public let mac: [UInt8]
    public let ciphertext: [UInt8]

    public init(ephemeralKey: Curve25519Key, mac: [UInt8], ciphertext: [UInt8]) {
        self.ephemeralKey = ephemeralKey
        self.mac = mac
        self.ciphertext = ciphertext
    }

    /// Encrypts for the backup with this public key.
    public init(_ plaintext: [UInt8], for publicKey: Curve25519Key) throws(RatchetError) {
        var ephemeral = [UInt8](repeating: 0, count: 32)
        var mac = [UInt8](repeating: 0, count: 8)
        ciphertext = try output {
            ratchet_backup_encrypt(publicKey.bytes, plaintext, plaintext.count, &ephemeral, &mac, $0)
        }
        ephemeralKey = try Curve25519Key(bytes: ephemeral)
        self.mac = mac
    }
}

/// The private key that decrypts the backup on the server.
public final class BackupKey {
    private let handle: OpaquePointer
    public let publicKey: Curve25519Key

    public init(_ key: KeyMaterial) throws(RatchetError) {
        let handle = try key.withBytes { key throws(RatchetError) in try made { ratchet_backup_new(key, $0) } }
        self.handle = handle
        publicKey = try Curve25519Key(bytes: filled(32) { ratchet_backup_key(handle, $0) })
    }

    deinit { ratchet_backup_free(handle) }

    public func decrypt(_ data: BackedUpData) throws(RatchetError) -> [UInt8] {
        try output {
            ratchet_backup_decrypt(
                handle, data.ephemeralKey.bytes, data.mac, data.mac.count, data.ciphertext, data.ciphertext.count, $0)
        }
    }
}
