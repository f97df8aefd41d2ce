import CRatchets

/// An Ed25519 private key, such as one of the three cross-signing keys.
public final class SigningKey {
    private let handle: OpaquePointer
    public let publicKey: Ed25519Key

    /// Generates a key.
    public convenience init() throws(RatchetError) { try self.init(handle: made { ratchet_signing_new(nil, $0) }) }

    public convenience init(seed: KeyMaterial) throws(RatchetError) {
        try self.init(
            handle: seed.withBytes { seed throws(RatchetError) in try made { ratchet_signing_new(seed, $0) } })
    }

    private init(handle: OpaquePointer) throws(RatchetError) {
        self.handle = handle
        publicKey = try Ed25519Key(bytes: filled(32) { ratchet_signing_key(handle, $0) })
    }

    deinit { ratchet_signing_free(handle) }

    /// The seed, from which the key can be restored.
    public var seed: KeyMaterial {
        get throws(RatchetError) {
            var seed = [UInt8](repeating: 0, count: KeyMaterial.count)
            defer { ratchet_wipe(&seed, seed.count) }
            try check(ratchet_signing_seed(handle, &seed))
            return try KeyMaterial(bytes: seed)
        }
    }

    public func sign(_ message: [UInt8]) throws(RatchetError) -> Signature {
        try Signature(bytes: filled(64) { ratchet_signing_sign(handle, message, message.count, $0) })
    }
}
