import CRatchets

/// How each function is called, in the order of the header.
extension RatchetCalls {
    static let common: [Call] = [
        Call("ratchet_bytes_free") { _, _ in
            ratchet_bytes_free(ratchet_bytes(data: nil, length: 0))
            return nil
        },
        Call("ratchet_library_version") { _, arguments in
            if ratchet_library_version()[0] == 0 { arguments.note("no version") }
            return nil
        },
    ]

    static let accounts: [Call] = [
        Call("ratchet_account_new") { _, arguments in
            arguments.object(ratchet_account_free) { ratchet_account_new($0) }
        },
        Call("ratchet_account_free") { _, _ in
            ratchet_account_free(nil)
            return nil
        },
        Call("ratchet_account_pickle") { calls, arguments in
            let key = arguments.fixed(32)
            return arguments.bytes { ratchet_account_pickle(calls.account, key, $0) }
        },
        Call("ratchet_account_unpickle") { calls, arguments in
            let (key, pickle) = (arguments.fixed(32, or: calls.key), arguments.bytes(or: calls.pickles.account))
            return arguments.object(ratchet_account_free) {
                ratchet_account_unpickle(pickle.start, pickle.count, key, $0)
            }
        },
        Call("ratchet_account_keys") { calls, arguments in
            ratchet_account_keys(calls.account, arguments.place(32), arguments.place(32))
        },
        Call("ratchet_account_sign") { calls, arguments in
            let message = arguments.bytes()
            return ratchet_account_sign(calls.account, message.start, message.count, arguments.place(64))
        },
        Call("ratchet_account_generate_one_time_keys") { calls, arguments in
            let count = arguments.byte() % 8 == 0 ? -1 - Int(arguments.byte()) : Int(arguments.byte())
            let status = ratchet_account_generate_one_time_keys(calls.account, count)
            if Int(status) == RATCHET_OK, !(0...50).contains(count) { arguments.note("makes \(count) keys") }
            return status
        },
        Call("ratchet_account_one_time_keys") { calls, arguments in
            arguments.bytes { ratchet_account_one_time_keys(calls.account, $0) }
        },
        Call("ratchet_account_generate_fallback_key") { calls, _ in
            ratchet_account_generate_fallback_key(calls.account)
        },
        Call("ratchet_account_fallback_key") { calls, arguments in
            arguments.bytes { ratchet_account_fallback_key(calls.account, $0) }
        },
        Call("ratchet_account_forget_fallback_key") { calls, _ in
            ratchet_account_forget_fallback_key(calls.account)
        },
        Call("ratchet_account_mark_as_published") { calls, _ in ratchet_account_mark_as_published(calls.account) },
        Call("ratchet_account_session_to") { calls, arguments in
            let identity = arguments.fixed(32, or: calls.publicKey)
            let oneTimeKey = arguments.fixed(32, or: calls.oneTimeKey)
            return arguments.object(ratchet_olm_free) {
                ratchet_account_session_to(calls.account, identity, oneTimeKey, $0)
            }
        },
        Call("ratchet_account_session_from") { calls, arguments in
            let (identity, message) = (arguments.fixed(32), arguments.bytes(or: calls.beginning))
            return arguments.object(ratchet_olm_free) { session in
                arguments.bytes {
                    ratchet_account_session_from(calls.peer, identity, message.start, message.count, session, $0)
                }
            }
        },
    ]

    static let olmSessions: [Call] = [
        Call("ratchet_olm_free") { _, _ in
            ratchet_olm_free(nil)
            return nil
        },
        Call("ratchet_olm_pickle") { calls, arguments in
            let key = arguments.fixed(32)
            return arguments.bytes { ratchet_olm_pickle(calls.olm, key, $0) }
        },
        Call("ratchet_olm_unpickle") { calls, arguments in
            let (key, pickle) = (arguments.fixed(32, or: calls.key), arguments.bytes(or: calls.pickles.olm))
            return arguments.object(ratchet_olm_free) { ratchet_olm_unpickle(pickle.start, pickle.count, key, $0) }
        },
        Call("ratchet_olm_id") { calls, arguments in arguments.bytes { ratchet_olm_id(calls.olm, $0) } },
        Call("ratchet_olm_has_received") { calls, _ in
            var answer = false
            return ratchet_olm_has_received(calls.olm, &answer)
        },
        Call("ratchet_olm_begins_with") { calls, arguments in
            let message = arguments.bytes(or: calls.beginning)
            var answer = false
            return ratchet_olm_begins_with(calls.olm, message.start, message.count, &answer)
        },
        Call("ratchet_olm_encrypt") { calls, arguments in
            let plaintext = arguments.bytes()
            var kind: UInt32 = 0
            let status = arguments.bytes {
                ratchet_olm_encrypt(calls.olm, plaintext.start, plaintext.count, &kind, $0)
            }
            if kind > 1 { arguments.note("a message of kind \(kind)") }
            return status
        },
        Call("ratchet_olm_decrypt") { calls, arguments in
            let kind = arguments.byte() % 4 == 0 ? arguments.number() : UInt32(arguments.byte() % 2)
            let message = arguments.bytes(or: calls.beginning)
            return arguments.bytes { ratchet_olm_decrypt(calls.olm, kind, message.start, message.count, $0) }
        },
    ]

    static let groupSessions: [Call] = [
        Call("ratchet_group_out_new") { _, arguments in
            arguments.object(ratchet_group_out_free) { ratchet_group_out_new($0) }
        },
        Call("ratchet_group_out_free") { _, _ in
            ratchet_group_out_free(nil)
            return nil
        },
        Call("ratchet_group_out_pickle") { calls, arguments in
            let key = arguments.fixed(32)
            return arguments.bytes { ratchet_group_out_pickle(calls.room, key, $0) }
        },
        Call("ratchet_group_out_unpickle") { calls, arguments in
            let (key, pickle) = (arguments.fixed(32, or: calls.key), arguments.bytes(or: calls.pickles.room))
            return arguments.object(ratchet_group_out_free) {
                ratchet_group_out_unpickle(pickle.start, pickle.count, key, $0)
            }
        },
        Call("ratchet_group_out_id") { calls, arguments in
            arguments.bytes { ratchet_group_out_id(calls.room, $0) }
        },
        Call("ratchet_group_out_index") { calls, _ in
            var index: UInt32 = 0
            return ratchet_group_out_index(calls.room, &index)
        },
        Call("ratchet_group_out_key") { calls, arguments in
            arguments.bytes { ratchet_group_out_key(calls.room, $0) }
        },
        Call("ratchet_group_out_encrypt") { calls, arguments in
            let plaintext = arguments.bytes()
            return arguments.bytes { ratchet_group_out_encrypt(calls.room, plaintext.start, plaintext.count, $0) }
        },
        Call("ratchet_group_in_new") { calls, arguments in
            let key = arguments.bytes(or: calls.sessionKey)
            return arguments.object(ratchet_group_in_free) { ratchet_group_in_new(key.start, key.count, $0) }
        },
        Call("ratchet_group_in_import") { calls, arguments in
            let exported = arguments.bytes(or: calls.exported)
            return arguments.object(ratchet_group_in_free) {
                ratchet_group_in_import(exported.start, exported.count, $0)
            }
        },
        Call("ratchet_group_in_free") { _, _ in
            ratchet_group_in_free(nil)
            return nil
        },
        Call("ratchet_group_in_pickle") { calls, arguments in
            let key = arguments.fixed(32)
            return arguments.bytes { ratchet_group_in_pickle(calls.reader, key, $0) }
        },
        Call("ratchet_group_in_unpickle") { calls, arguments in
            let (key, pickle) = (arguments.fixed(32, or: calls.key), arguments.bytes(or: calls.pickles.reader))
            return arguments.object(ratchet_group_in_free) {
                ratchet_group_in_unpickle(pickle.start, pickle.count, key, $0)
            }
        },
        Call("ratchet_group_in_id") { calls, arguments in
            arguments.bytes { ratchet_group_in_id(calls.reader, $0) }
        },
        Call("ratchet_group_in_first_index") { calls, _ in
            var index: UInt32 = 0
            return ratchet_group_in_first_index(calls.reader, &index)
        },
        Call("ratchet_group_in_decrypt") { calls, arguments in
            let message = arguments.bytes(or: calls.roomMessage)
            var index: UInt32 = 0
            return arguments.bytes {
                ratchet_group_in_decrypt(calls.reader, message.start, message.count, &index, $0)
            }
        },
        Call("ratchet_group_in_export") { calls, arguments in
            let index = arguments.byte() % 2 == 0 ? arguments.number() : UInt32(arguments.byte())
            return arguments.bytes { ratchet_group_in_export(calls.reader, index, $0) }
        },
        Call("ratchet_group_in_compare") { calls, arguments in
            var order: Int32 = 0
            // The same session twice is allowed.
            let other = arguments.byte() % 2 == 0 ? calls.reader : calls.otherReader
            let status = ratchet_group_in_compare(calls.reader, other, &order)
            if Int(status) == RATCHET_OK, order == 2 { arguments.note("says that a copy is another session") }
            return status
        },
    ]

    static let verification: [Call] = [
        Call("ratchet_sas_new") { _, arguments in arguments.object(ratchet_sas_free) { ratchet_sas_new($0) } },
        Call("ratchet_sas_free") { _, _ in
            ratchet_sas_free(nil)
            return nil
        },
        Call("ratchet_sas_key") { calls, arguments in ratchet_sas_key(calls.one(arguments), arguments.place(32)) },
        Call("ratchet_sas_agree") { calls, arguments in
            let theirs = arguments.fixed(32, or: calls.publicKey)
            var answer: ratchet_status = 0
            let status = arguments.object(ratchet_sas_free) { sas in
                let made = ratchet_sas_new(sas)
                guard let sas = sas.pointee else { return made }
                answer = ratchet_sas_agree(sas, theirs)
                if Int(ratchet_sas_agree(sas, theirs)) == RATCHET_OK { arguments.note("agrees twice") }
                return made
            }
            return Int(status) == RATCHET_OK ? answer : status
        },
        Call("ratchet_sas_bytes") { calls, arguments in
            let (sas, info) = (calls.one(arguments), arguments.bytes())
            return calls.expectAgreed(
                sas, ratchet_sas_bytes(sas, info.start, info.count, arguments.place(6)), arguments)
        },
        Call("ratchet_sas_mac") { calls, arguments in
            let (sas, text, info) = (calls.one(arguments), arguments.bytes(), arguments.bytes())
            return calls.expectAgreed(
                sas, ratchet_sas_mac(sas, text.start, text.count, info.start, info.count, arguments.place(32)),
                arguments)
        },
        Call("ratchet_sas_old_mac") { calls, arguments in
            let (sas, text, info) = (calls.one(arguments), arguments.bytes(), arguments.bytes())
            let status = arguments.bytes {
                ratchet_sas_old_mac(sas, text.start, text.count, info.start, info.count, $0)
            }
            return calls.expectAgreed(sas, status, arguments)
        },
        Call("ratchet_sas_check_mac") { calls, arguments in
            let (sas, text, info) = (calls.one(arguments), arguments.bytes(), arguments.bytes())
            let mac = arguments.fixed(32)
            return calls.expectAgreed(
                sas, ratchet_sas_check_mac(sas, text.start, text.count, info.start, info.count, mac), arguments)
        },
    ]

    /// A verification before or after the other side's key has come.
    private func one(_ arguments: CallArguments) -> OpaquePointer { arguments.byte() % 4 == 0 ? sas : agreed }

    private func expectAgreed(
        _ sas: OpaquePointer, _ status: ratchet_status, _ arguments: CallArguments
    ) -> ratchet_status {
        if sas == self.sas, Int(status) == RATCHET_OK { arguments.note("succeeds before the other side's key") }
        return status
    }

    static let keys: [Call] = [
        Call("ratchet_backup_new") { _, arguments in
            let key = arguments.fixed(32)
            return arguments.object(ratchet_backup_free) { ratchet_backup_new(key, $0) }
        },
        Call("ratchet_backup_free") { _, _ in
            ratchet_backup_free(nil)
            return nil
        },
        Call("ratchet_backup_key") { calls, arguments in ratchet_backup_key(calls.backup, arguments.place(32)) },
        Call("ratchet_backup_encrypt") { calls, arguments in
            let (key, plaintext) = (arguments.fixed(32, or: calls.publicKey), arguments.bytes())
            let (ephemeral, mac) = (arguments.place(32), arguments.place(8))
            return arguments.bytes {
                ratchet_backup_encrypt(key, plaintext.start, plaintext.count, ephemeral, mac, $0)
            }
        },
        Call("ratchet_backup_decrypt") { calls, arguments in
            let (ephemeral, mac) = (arguments.fixed(32, or: calls.publicKey), arguments.bytes())
            let ciphertext = arguments.bytes()
            return arguments.bytes {
                ratchet_backup_decrypt(
                    calls.backup, ephemeral, mac.start, mac.count, ciphertext.start, ciphertext.count, $0)
            }
        },
        Call("ratchet_signing_new") { _, arguments in
            let seed = arguments.byte() % 2 == 0 ? nil : arguments.fixed(32)
            return arguments.object(ratchet_signing_free) { ratchet_signing_new(seed, $0) }
        },
        Call("ratchet_signing_free") { _, _ in
            ratchet_signing_free(nil)
            return nil
        },
        Call("ratchet_signing_key") { calls, arguments in ratchet_signing_key(calls.signing, arguments.place(32)) },
        Call("ratchet_signing_seed") { calls, arguments in ratchet_signing_seed(calls.signing, arguments.place(32)) },
        Call("ratchet_signing_sign") { calls, arguments in
            let message = arguments.bytes()
            return ratchet_signing_sign(calls.signing, message.start, message.count, arguments.place(64))
        },
        Call("ratchet_ed25519_verify") { _, arguments in
            let (key, message, signature) = (arguments.fixed(32), arguments.bytes(), arguments.fixed(64))
            return ratchet_ed25519_verify(key, message.start, message.count, signature)
        },
        Call("ratchet_random") { _, arguments in
            let into = arguments.bytes()
            return ratchet_random(into.start, into.count)
        },
        Call("ratchet_equal") { _, arguments in
            let bytes = arguments.bytes()
            let isEqual = ratchet_equal(bytes.start, bytes.start, bytes.count)
            if isEqual == arguments.isForbidden { arguments.note("says \(isEqual) of the same bytes") }
            return nil
        },
        Call("ratchet_wipe") { _, arguments in
            let bytes = arguments.bytes()
            ratchet_wipe(bytes.start, bytes.count)
            let wiped = UnsafeBufferPointer<UInt8>(start: bytes.start, count: arguments.isForbidden ? 0 : bytes.count)
            if !wiped.allSatisfy({ $0 == 0 }) { arguments.note("leaves bytes") }
            return nil
        },
        Call("ratchet_base64_encode") { _, arguments in
            let data = arguments.bytes()
            return arguments.bytes { ratchet_base64_encode(data.start, data.count, $0) }
        },
        Call("ratchet_base64_decode") { _, arguments in
            let text = arguments.bytes(or: Array("dm9kb3plbWFj".utf8))
            return arguments.bytes { ratchet_base64_decode(text.start, text.count, $0) }
        },
    ]

    static let hashes: [Call] = [
        Call("ratchet_aes_ctr_new") { _, arguments in
            let (key, counter) = (arguments.fixed(32), arguments.fixed(16))
            return arguments.object(ratchet_aes_ctr_free) { ratchet_aes_ctr_new(key, counter, $0) }
        },
        Call("ratchet_aes_ctr_free") { _, _ in
            ratchet_aes_ctr_free(nil)
            return nil
        },
        Call("ratchet_aes_ctr_update") { calls, arguments in
            let data = arguments.bytes()
            return ratchet_aes_ctr_update(calls.cipher, data.start, data.count)
        },
        Call("ratchet_sha256_new") { _, arguments in
            arguments.object(ratchet_sha256_free) { ratchet_sha256_new($0) }
        },
        Call("ratchet_sha256_free") { _, _ in
            ratchet_sha256_free(nil)
            return nil
        },
        Call("ratchet_sha256_update") { calls, arguments in
            let data = arguments.bytes()
            return ratchet_sha256_update(calls.hash, data.start, data.count)
        },
        Call("ratchet_sha256_finish") { calls, arguments in ratchet_sha256_finish(calls.hash, arguments.place(32)) },
        Call("ratchet_sha256") { _, arguments in
            let data = arguments.bytes()
            return ratchet_sha256(data.start, data.count, arguments.place(32))
        },
        Call("ratchet_hmac_sha256") { _, arguments in
            let (key, data) = (arguments.bytes(), arguments.bytes())
            return ratchet_hmac_sha256(key.start, key.count, data.start, data.count, arguments.place(32))
        },
        Call("ratchet_hkdf_sha256") { _, arguments in
            let count = Int(arguments.number() % 8_200)
            let (secret, salt, info) = (arguments.bytes(), arguments.bytes(), arguments.bytes())
            let status = ratchet_hkdf_sha256(
                secret.start, secret.count, salt.start, salt.count, info.start, info.count, arguments.place(count),
                count)
            if Int(status) == RATCHET_OK, count > 8_160 { arguments.note("makes \(count) bytes") }
            return status
        },
        Call("ratchet_pbkdf2_sha512") { _, arguments in
            // Ten million rounds take seconds.
            let isFew = arguments.byte() % 4 != 0
            let rounds = isFew ? UInt32(arguments.byte() % 32) : max(10_000_001, arguments.number())
            let count = Int(arguments.byte() % 80)
            let (password, salt) = (arguments.bytes(), arguments.bytes())
            let status = ratchet_pbkdf2_sha512(
                password.start, password.count, salt.start, salt.count, rounds, arguments.place(count), count)
            let isAllowed = (1...10_000_000).contains(rounds) && (1...64).contains(count)
            if Int(status) == RATCHET_OK, !isAllowed { arguments.note("makes \(count) bytes in \(rounds) rounds") }
            return status
        },
    ]
}
