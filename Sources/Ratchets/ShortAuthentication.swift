import CRatchets

/// The key exchange of one SAS verification, and the emoji, numbers and MACs that both sides derive from it.
public final class ShortAuthentication {
    private let handle: OpaquePointer
    public let publicKey: Curve25519Key

    public init() throws(RatchetError) {
        let handle = try made { ratchet_sas_new($0) }
        self.handle = handle
        publicKey = try Curve25519Key(bytes: filled(32) { ratchet_sas_key(handle, $0) })
    }

    deinit { ratchet_sas_free(handle) }

    /// Must be called only once. A rejected key ends the verification.
    public func agree(with theirs: Curve25519Key) throws(RatchetError) {
        try check(ratchet_sas_agree(handle, theirs.bytes))
    }

    /// Six bytes: seven emoji from their first 42 bits, or three numbers from their first 39.
    public func bytes(info: String) throws(RatchetError) -> [UInt8] {
        let info = Array(info.utf8)
        return try filled(6) { ratchet_sas_bytes(handle, info, info.count, $0) }
    }

    public func emoji(info: String) throws(RatchetError) -> [Int] {
        let bits = try bytes(info: info).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (0..<7).map { Int(bits >> UInt64(42 - 6 * $0) & 63) }
    }

    public func numbers(info: String) throws(RatchetError) -> [Int] {
        let bits = try bytes(info: info).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (0..<3).map { Int(bits >> UInt64(35 - 13 * $0) & 0x1FFF) + 1000 }
    }

    /// The MAC in base64, as `hkdf-hmac-sha256.v2` defines it.
    public func mac(of input: String, info: String) throws(RatchetError) -> String {
        let (input, info) = (Array(input.utf8), Array(info.utf8))
        return Base64.encoded(
            try filled(32) { ratchet_sas_mac(handle, input, input.count, info, info.count, $0) })
    }

    /// The MAC with the base64 flaw of `hkdf-hmac-sha256`, for devices that offer nothing else.
    public func oldMAC(of input: String, info: String) throws(RatchetError) -> String {
        let (input, info) = (Array(input.utf8), Array(info.utf8))
        return text(try output { ratchet_sas_old_mac(handle, input, input.count, info, info.count, $0) })
    }

    public func verify(mac: String, of input: String, info: String) throws(RatchetError) {
        let mac = try Base64.decoded(mac)
        guard mac.count == 32 else { throw .mac }
        let (input, info) = (Array(input.utf8), Array(info.utf8))
        try check(ratchet_sas_check_mac(handle, input, input.count, info, info.count, mac))
    }

    public func verify(oldMAC mac: String, of input: String, info: String) throws(RatchetError) {
        guard ConstantTime.equal(Array(mac.utf8), Array(try oldMAC(of: input, info: info).utf8)) else { throw .mac }
    }
}
