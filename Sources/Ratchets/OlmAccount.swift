import CRatchets

/// A device's identity keys, and the one-time and fallback keys with which others establish Olm sessions.
///
/// Not `Sendable`: only one thread at a time may use this or any other object of the module.
public final class OlmAccount {
    let handle: OpaquePointer

    /// A one-time or fallback key that the server does not have yet.
    public struct UnpublishedKey: Hashable, Sendable {
        public let id: String
        public let key: Curve25519Key
    }

    public let signingKey: Ed25519Key
    public let identityKey: Curve25519Key

    /// Creates the keys of a new device.
    public convenience init() throws(RatchetError) { try self.init(handle: made { ratchet_account_new($0) }) }

    public convenience init(pickle: [UInt8], key: KeyMaterial) throws(RatchetError) {
        let handle = try key.withBytes { key throws(RatchetError) in
            try made { ratchet_account_unpickle(pickle, pickle.count, key, $0) }
        }
        try self.init(handle: handle)
    }

    private init(handle: OpaquePointer) throws(RatchetError) {
        self.handle = handle
        var identity = [UInt8](repeating: 0, count: 32)
        let signing = try filled(32) { ratchet_account_keys(handle, $0, &identity) }
        signingKey = try Ed25519Key(bytes: signing)
        identityKey = try Curve25519Key(bytes: identity)
    }

    deinit { ratchet_account_free(handle) }

    public func pickle(key: KeyMaterial) throws(RatchetError) -> [UInt8] {
        try key.withBytes { key throws(RatchetError) in try output { ratchet_account_pickle(handle, key, $0) } }
    }

    public func sign(_ message: [UInt8]) throws(RatchetError) -> Signature {
        try Signature(bytes: filled(64) { ratchet_account_sign(handle, message, message.count, $0) })
    }

    /// - Parameter count: At most 50. Beyond 5,000 keys, the oldest are discarded.
    public func generateOneTimeKeys(_ count: Int) throws(RatchetError) {
        guard count >= 0 else { throw .argument }
        try check(ratchet_account_generate_one_time_keys(handle, count))
    }

    public var unpublishedOneTimeKeys: [UnpublishedKey] {
        get throws(RatchetError) { try Self.keys(in: output { ratchet_account_one_time_keys(handle, $0) }) }
    }

    /// The previous one stays usable until ``forgetPreviousFallbackKey()``.
    public func generateFallbackKey() throws(RatchetError) { try check(ratchet_account_generate_fallback_key(handle)) }

    public var unpublishedFallbackKey: UnpublishedKey? {
        get throws(RatchetError) { try Self.keys(in: output { ratchet_account_fallback_key(handle, $0) }).first }
    }

    public func forgetPreviousFallbackKey() throws(RatchetError) {
        try check(ratchet_account_forget_fallback_key(handle))
    }

    /// To be called only after the server has accepted all unpublished keys.
    public func markAsPublished() throws(RatchetError) { try check(ratchet_account_mark_as_published(handle)) }

    /// Establishes a session with a device, using a one-time key claimed from it.
    public func session(with identity: Curve25519Key, oneTimeKey: Curve25519Key) throws(RatchetError) -> OlmSession {
        OlmSession(handle: try made { ratchet_account_session_to(handle, identity.bytes, oneTimeKey.bytes, $0) })
    }

    /// Establishes the session that a pre-key message begins, and decrypts the message. This uses up the one-time key,
    /// so account and session have to be stored together. An error leaves the account unchanged.
    public func session(
        from message: [UInt8], of identity: Curve25519Key
    ) throws(RatchetError) -> (session: OlmSession, plaintext: [UInt8]) {
        var session: OpaquePointer?
        let plaintext = try output {
            ratchet_account_session_from(handle, identity.bytes, message, message.count, &session, $0)
        }
        guard let session else { throw .argument }
        return (OlmSession(handle: session), plaintext)
    }

    /// Parses the library's records: the length of the key ID as one byte, the key ID, the key.
    private static func keys(in records: [UInt8]) throws(RatchetError) -> [UnpublishedKey] {
        var keys: [UnpublishedKey] = []
        var rest = records[...]
        while let count = rest.popFirst() {
            guard rest.count >= Int(count) + 32 else { throw .malformed }
            let id = text(Array(rest.prefix(Int(count))))
            rest = rest.dropFirst(Int(count))
            keys.append(UnpublishedKey(id: id, key: try Curve25519Key(bytes: Array(rest.prefix(32)))))
            rest = rest.dropFirst(32)
        }
        return keys
    }
}
