public import Ratchets

/// Feeds arbitrary input to the encryption library: each call succeeds or fails, and a failed call changes nothing.
public struct RatchetsFuzzRun {
    private let account: OlmAccount
    private let peer: OlmAccount
    private let toPeer: OlmSession
    private let fromPeer: OlmSession
    private let room: OutboundGroupSession
    private let reader: InboundGroupSession
    private let backup: BackupKey
    private let key: KeyMaterial
    private let pickles: [[UInt8]]
    private let calls: RatchetCalls

    public init() throws(RatchetError) {
        account = try OlmAccount()
        peer = try OlmAccount()
        try account.generateOneTimeKeys(5)
        try account.generateFallbackKey()
        try peer.generateOneTimeKeys(1)
        key = try KeyMaterial()
        toPeer = try account.session(with: peer.identityKey, oneTimeKey: peer.unpublishedOneTimeKeys[0].key)
        fromPeer = try peer.session(from: toPeer.encrypt([1]).bytes, of: account.identityKey).session
        room = try OutboundGroupSession()
        reader = try InboundGroupSession(sessionKey: room.sessionKey)
        backup = try BackupKey(key)
        pickles = try [
            account.pickle(key: key), toPeer.pickle(key: key), room.pickle(key: key), reader.pickle(key: key),
        ]
        guard let calls = RatchetCalls() else { throw .absent }
        self.calls = calls
    }

    /// Returns the violation, if any. The first byte selects the call; the rest is its input.
    public func violation(of input: [UInt8]) -> String? {
        guard let call = input.first else { return nil }
        let rest = Array(input.dropFirst())
        do throws(RatchetError) {
            switch call % 24 {
            case 0: _ = try account.session(from: rest, of: peer.identityKey)
            case 1:
                _ = try fromPeer.decrypt(OlmMessage(kind: rest.count % 2 == 0 ? .beginning : .following, bytes: rest))
            case 2: return try damagedOlm(rest)
            case 3: _ = try InboundGroupSession(sessionKey: rest).id
            case 4: return try imported(rest)
            case 5: _ = try reader.decrypt(rest)
            case 6: return try damagedRoomMessage(rest)
            case 7: try unpickle(rest)
            case 8:
                let decoded = try Base64.decoded(String(decoding: rest, as: UTF8.self))
                if try Base64.decoded(Base64.encoded(decoded)) != decoded { return "base64 does not come back" }
            case 9: return try backedUp(rest)
            case 10:
                let (head, message) = (Array(rest.prefix(96)), Array(rest.dropFirst(96)))
                let signature = try Signature(bytes: Array(head.dropFirst(32)))
                try Ed25519Key(bytes: Array(head.prefix(32))).verify(signature, of: message)
            case 11:
                let theirs = try Curve25519Key(bytes: Array(rest.prefix(32)))
                let verification = try ShortAuthentication()
                try verification.agree(with: theirs)
                let info = String(decoding: rest.dropFirst(32), as: UTF8.self)
                try verification.verify(mac: verification.mac(of: info, info: info), of: info, info: info)
            default: return calls.violation(of: rest)
            }
        } catch {
            // Errors are expected, unless they mean that the library does not work.
            return error == .absent || error == .random ? "the library says: \(error)" : nil
        }
        return nil
    }

    /// Applies `changes` to `bytes`: pairs of an offset and the bits to flip.
    private func damaged(_ bytes: [UInt8], _ changes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for pair in 0..<changes.count / 2 where !bytes.isEmpty {
            bytes[Int(changes[2 * pair]) % bytes.count] ^= changes[2 * pair + 1]
        }
        return bytes
    }

    private func damagedOlm(_ changes: [UInt8]) throws(RatchetError) -> String? {
        let message = try toPeer.encrypt([4, 2])
        let bytes = damaged(message.bytes, changes)
        if bytes != message.bytes, let read = try? fromPeer.decrypt(OlmMessage(kind: message.kind, bytes: bytes)),
            read != [4, 2]
        {
            return "a damaged Olm message says something else"
        }
        // The MAC does not cover unknown fields, so a damaged message may still have been read.
        if bytes == message.bytes, try fromPeer.decrypt(message) != [4, 2] { return "an Olm message is lost" }
        let next = try toPeer.encrypt([5])
        return (try? fromPeer.decrypt(next)) == [5] ? nil : "the session is broken by a damaged message"
    }

    private func damagedRoomMessage(_ changes: [UInt8]) throws(RatchetError) -> String? {
        let message = try room.encrypt([4, 2])
        let bytes = damaged(message, changes)
        if bytes != message, let read = try? reader.decrypt(bytes), read.plaintext != [4, 2] {
            return "a damaged message says something else"
        }
        return try reader.decrypt(message).plaintext == [4, 2] ? nil : "a message is lost"
    }

    private func imported(_ bytes: [UInt8]) throws(RatchetError) -> String? {
        let session = try InboundGroupSession(exported: bytes)
        let index = try session.firstKnownIndex
        let again = try InboundGroupSession(exported: session.exported(at: index))
        guard try session.compare(to: again) == .same else { return "an export is another session" }
        _ = try session.exported(at: .max)
        return nil
    }

    private func unpickle(_ changes: [UInt8]) throws(RatchetError) {
        guard let which = changes.first else { return }
        let pickle = which & 128 == 0 ? damaged(pickles[Int(which) % 4], Array(changes.dropFirst())) : changes
        switch which % 4 {
        case 0: _ = try OlmAccount(pickle: pickle, key: key)
        case 1: _ = try OlmSession(pickle: pickle, key: key)
        case 2: _ = try OutboundGroupSession(pickle: pickle, key: key)
        default: _ = try InboundGroupSession(pickle: pickle, key: key)
        }
    }

    private func backedUp(_ changes: [UInt8]) throws(RatchetError) -> String? {
        let data = try BackedUpData(changes, for: backup.publicKey)
        guard try backup.decrypt(data) == changes else { return "a backup does not come back" }
        _ = try backup.decrypt(
            BackedUpData(ephemeralKey: data.ephemeralKey, mac: data.mac, ciphertext: damaged(data.ciphertext, changes)))
        return nil
    }
}
