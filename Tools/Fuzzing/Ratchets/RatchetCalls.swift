import CRatchets

/// Calls the functions of the encryption library's C header, each with arbitrary bytes, lengths, numbers and pointers,
/// as far as the header allows them: none crashes, writes where it must not, or succeeds with what is not allowed.
public final class RatchetCalls {
    /// One function, with how to call it. `nil` is returned for one that has no status.
    struct Call: Sendable {
        let name: String
        let run: @Sendable (RatchetCalls, CallArguments) -> ratchet_status?

        init(_ name: String, _ run: @escaping @Sendable (RatchetCalls, CallArguments) -> ratchet_status?) {
            self.name = name
            self.run = run
        }
    }

    private static let calls: [Call] = [
        common, accounts, olmSessions, groupSessions, verification, keys, hashes,
    ].flatMap { $0 }

    /// The functions that are called.
    public static var names: [String] { calls.map(\.name) }

    let account, peer, olm, room, reader, otherReader, sas, agreed, backup, signing, cipher, hash: OpaquePointer
    let key: [UInt8]
    let publicKey: [UInt8]
    let oneTimeKey: [UInt8]
    let pickles: (account: [UInt8], olm: [UInt8], room: [UInt8], reader: [UInt8])
    let beginning: [UInt8]
    let sessionKey: [UInt8]
    let exported: [UInt8]
    let roomMessage: [UInt8]

    /// - Returns: `nil` if the library is absent or does not work.
    public init?() {
        func made(_ call: (UnsafeMutablePointer<OpaquePointer?>) -> ratchet_status) -> OpaquePointer? {
            var object: OpaquePointer?
            return Int(call(&object)) == RATCHET_OK ? object : nil
        }
        func bytes(_ call: (UnsafeMutablePointer<ratchet_bytes>) -> ratchet_status) -> [UInt8] {
            var bytes = ratchet_bytes(data: nil, length: 0)
            guard Int(call(&bytes)) == RATCHET_OK else { return [] }
            defer { ratchet_bytes_free(bytes) }
            return [UInt8](UnsafeBufferPointer(start: bytes.data, count: bytes.length))
        }
        let key = [UInt8](repeating: 7, count: 32)
        var (signature, identity) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
        guard let account = made({ ratchet_account_new($0) }), let peer = made({ ratchet_account_new($0) }),
            Int(ratchet_account_generate_one_time_keys(peer, 1)) == RATCHET_OK,
            Int(ratchet_account_generate_one_time_keys(account, 5)) == RATCHET_OK,
            Int(ratchet_account_generate_fallback_key(account)) == RATCHET_OK,
            Int(ratchet_account_keys(peer, &signature, &identity)) == RATCHET_OK
        else { return nil }
        // The length of the key ID, the key ID, the key.
        let oneTimeKey = Array(bytes { ratchet_account_one_time_keys(peer, $0) }.suffix(32))
        guard oneTimeKey.count == 32, let olm = made({ ratchet_account_session_to(account, identity, oneTimeKey, $0) })
        else { return nil }
        var kind: UInt32 = 0
        beginning = bytes { ratchet_olm_encrypt(olm, key, key.count, &kind, $0) }
        guard let room = made({ ratchet_group_out_new($0) }) else { return nil }
        let sessionKey = bytes { ratchet_group_out_key(room, $0) }
        guard let reader = made({ ratchet_group_in_new(sessionKey, sessionKey.count, $0) }),
            let otherReader = made({ ratchet_group_in_new(sessionKey, sessionKey.count, $0) }),
            let sas = made({ ratchet_sas_new($0) }), let agreed = made({ ratchet_sas_new($0) }),
            Int(ratchet_sas_agree(agreed, identity)) == RATCHET_OK,
            let backup = made({ ratchet_backup_new(key, $0) }), let signing = made({ ratchet_signing_new(nil, $0) }),
            let cipher = made({ ratchet_aes_ctr_new(key, key, $0) }), let hash = made({ ratchet_sha256_new($0) })
        else { return nil }
        (self.account, self.peer, self.olm, self.room) = (account, peer, olm, room)
        (self.reader, self.otherReader, self.sas, self.agreed) = (reader, otherReader, sas, agreed)
        (self.backup, self.signing, self.cipher, self.hash) = (backup, signing, cipher, hash)
        (self.key, publicKey, self.oneTimeKey, self.sessionKey) = (key, identity, oneTimeKey, sessionKey)
        pickles = (
            bytes { ratchet_account_pickle(account, key, $0) }, bytes { ratchet_olm_pickle(olm, key, $0) },
            bytes { ratchet_group_out_pickle(room, key, $0) }, bytes { ratchet_group_in_pickle(reader, key, $0) }
        )
        exported = bytes { ratchet_group_in_export(reader, 0, $0) }
        roomMessage = bytes { ratchet_group_out_encrypt(room, key, key.count, $0) }
    }

    deinit {
        for account in [account, peer] { ratchet_account_free(account) }
        ratchet_olm_free(olm)
        ratchet_group_out_free(room)
        for reader in [reader, otherReader] { ratchet_group_in_free(reader) }
        for sas in [sas, agreed] { ratchet_sas_free(sas) }
        ratchet_backup_free(backup)
        ratchet_signing_free(signing)
        ratchet_aes_ctr_free(cipher)
        ratchet_sha256_free(hash)
    }

    /// Returns the violation, if any. The first byte selects the function; the rest are its arguments.
    public func violation(of input: [UInt8]) -> String? {
        guard let selector = input.first else { return nil }
        let call = Self.calls[Int(selector) % Self.calls.count]
        let arguments = CallArguments(input.dropFirst())
        let status = call.run(self, arguments).map { Int($0) }
        if let violation = arguments.violation { return "\(call.name): \(violation)" }
        guard arguments.areMarginsIntact else { return "\(call.name) writes beside its results" }
        guard let status else { return nil }
        guard (RATCHET_OK..<RATCHET_RANDOM).contains(status) else { return "\(call.name) says \(status)" }
        if arguments.isForbidden, status == RATCHET_OK { return "\(call.name) succeeds with what is not allowed" }
        return nil
    }
}
