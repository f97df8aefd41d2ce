import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn)) struct OlmTests {
    /// Two accounts with a session, of which the first message has been read.
    struct Pair {
        let alice: OlmAccount
        let bob: OlmAccount
        let toBob: OlmSession
        let toAlice: OlmSession

        init() throws {
            alice = try OlmAccount()
            bob = try OlmAccount()
            try bob.generateOneTimeKeys(1)
            toBob = try alice.session(with: bob.identityKey, oneTimeKey: bob.unpublishedOneTimeKeys[0].key)
            try bob.markAsPublished()
            let first = try toBob.encrypt(Array("first".utf8))
            let received = try bob.session(from: first.bytes, of: alice.identityKey)
            #expect(received.plaintext == Array("first".utf8))
            toAlice = received.session
        }
    }

    @Test func twoDevicesTalk() throws {
        let pair = try Pair()
        #expect(try pair.toBob.id == pair.toAlice.id)
        #expect(try !pair.toBob.hasReceived)
        for round in 0..<20 {
            let text = Array("message \(round)".utf8)
            let there = try pair.toBob.encrypt(text)
            #expect(there.kind == (round == 0 ? .beginning : .following))
            #expect(try pair.toAlice.decrypt(there) == text)
            let back = try pair.toAlice.encrypt(text)
            #expect(back.kind == .following)
            #expect(try pair.toBob.decrypt(back) == text)
        }
    }

    @Test("Another spelling of a Curve25519 key is not read")
    func canonicalKeys() throws {
        func key(_ first: UInt8, _ last: UInt8, _ middle: UInt8 = 0xFF) -> String {
            Base64.encoded([first] + [UInt8](repeating: middle, count: 30) + [last])
        }
        for text in [key(0xED, 0x7F), key(0xFF, 0x7F), key(9, 0x80, 0), key(0, 0xFF, 0)] {
            #expect(throws: RatchetError.key) { try Curve25519Key(base64: text) }
        }
        for text in [key(0xEC, 0x7F), key(0xFF, 0x7F, 0xFE), key(9, 0, 0), key(0xFF, 0x7E)] {
            #expect(try "\(Curve25519Key(base64: text))" == text)
        }
        let own = try OlmAccount().identityKey
        #expect(try Curve25519Key(base64: "\(own)") == own)
    }

    @Test func messagesMayComeOutOfOrderAndOnce() throws {
        let pair = try Pair()
        let messages = try (0..<10).map { try pair.toBob.encrypt([UInt8($0)]) }
        for (number, message) in messages.enumerated().reversed() {
            #expect(try pair.toAlice.decrypt(message) == [UInt8(number)])
        }
        for message in messages { #expect(throws: RatchetError.messageKey) { try pair.toAlice.decrypt(message) } }
    }

    @Test func aOneTimeKeyServesOnceAndOnlyForWhatDecrypts() throws {
        let (alice, bob) = (try OlmAccount(), try OlmAccount())
        try bob.generateOneTimeKeys(1)
        let key = try bob.unpublishedOneTimeKeys[0].key
        let message = try alice.session(with: bob.identityKey, oneTimeKey: key).encrypt([1, 2, 3])
        var damaged = message.bytes
        damaged[damaged.count - 1] ^= 1
        #expect(throws: RatchetError.mac) { try bob.session(from: damaged, of: alice.identityKey) }
        #expect(throws: RatchetError.mismatch) { try bob.session(from: message.bytes, of: bob.identityKey) }
        // Neither attempt has used up the key.
        #expect(try bob.session(from: message.bytes, of: alice.identityKey).plaintext == [1, 2, 3])
        #expect(throws: RatchetError.unknownOneTimeKey) {
            try bob.session(from: message.bytes, of: alice.identityKey)
        }
    }

    @Test func aFallbackKeyServesUntilItIsForgotten() throws {
        let (alice, bob) = (try OlmAccount(), try OlmAccount())
        try bob.generateFallbackKey()
        let first = try #require(try bob.unpublishedFallbackKey).key
        try bob.markAsPublished()
        #expect(try bob.unpublishedFallbackKey == nil)
        func send() throws -> [UInt8] {
            try alice.session(with: bob.identityKey, oneTimeKey: first).encrypt([7]).bytes
        }
        #expect(try bob.session(from: send(), of: alice.identityKey).plaintext == [7])
        #expect(try bob.session(from: send(), of: alice.identityKey).plaintext == [7])
        try bob.generateFallbackKey()
        #expect(try bob.unpublishedFallbackKey?.key != first)
        #expect(try bob.session(from: send(), of: alice.identityKey).plaintext == [7])
        try bob.forgetPreviousFallbackKey()
        #expect(throws: RatchetError.unknownOneTimeKey) { try bob.session(from: send(), of: alice.identityKey) }
    }

    @Test func oneTimeKeysHaveIdentifiersOfTheirOwn() throws {
        let account = try OlmAccount()
        try account.generateOneTimeKeys(50)
        let keys = try account.unpublishedOneTimeKeys
        #expect(keys.count == 50)
        #expect(Set(keys.map(\.id)).count == 50)
        #expect(Set(keys.map(\.key)).count == 50)
        try account.markAsPublished()
        #expect(try account.unpublishedOneTimeKeys.isEmpty)
        for count in [-1, 51, .max] {
            #expect(throws: RatchetError.argument) { try account.generateOneTimeKeys(count) }
        }
    }

    @Test func picklesBringEverythingBack() throws {
        let pair = try Pair()
        let key = try KeyMaterial()
        let account = try OlmAccount(pickle: pair.alice.pickle(key: key), key: key)
        #expect(account.identityKey == pair.alice.identityKey)
        #expect(account.signingKey == pair.alice.signingKey)
        try account.signingKey.verify(account.sign([1]), of: [1])
        let session = try OlmSession(pickle: pair.toBob.pickle(key: key), key: key)
        #expect(try pair.toAlice.decrypt(session.encrypt([9])) == [9])
        #expect(try session.begins(with: session.encrypt([1]).bytes))
        #expect(try !Pair().toBob.begins(with: session.encrypt([1]).bytes))
    }

    @Test func picklesNeedTheirKey() throws {
        let pair = try Pair()
        let (key, other) = (try KeyMaterial(), try KeyMaterial())
        let (account, session) = (try pair.alice.pickle(key: key), try pair.toBob.pickle(key: key))
        #expect(throws: RatchetError.pickle) { try OlmAccount(pickle: account, key: other) }
        #expect(throws: RatchetError.pickle) { try OlmSession(pickle: session, key: other) }
        // A pickle of another type is rejected, and so is a truncated one.
        #expect(throws: RatchetError.pickle) { try OlmAccount(pickle: session, key: key) }
        #expect(throws: RatchetError.pickle) { try OlmSession(pickle: Array(session.dropLast()), key: key) }
        #expect(throws: RatchetError.pickle) { try OlmAccount(pickle: [], key: key) }
        #expect(throws: RatchetError.argument) { try OlmAccount(pickle: [0xFF], key: key) }
    }

    @Test func keysOfSmallOrderAreRefused() throws {
        let account = try OlmAccount()
        for bytes in SmallOrder.curve25519 {
            let weak = try Curve25519Key(bytes: bytes)
            #expect(throws: RatchetError.key) { try account.session(with: weak, oneTimeKey: account.identityKey) }
            #expect(throws: RatchetError.key) { try account.session(with: account.identityKey, oneTimeKey: weak) }
            #expect(throws: RatchetError.key) { try ShortAuthentication().agree(with: weak) }
            #expect(throws: RatchetError.key) { try BackedUpData([1], for: weak) }
        }
        // With the identity point as the key, a trivial signature fits every message.
        let identity = try Ed25519Key(bytes: [1] + [UInt8](repeating: 0, count: 31))
        let nothing = try Signature(bytes: [1] + [UInt8](repeating: 0, count: 63))
        #expect(throws: RatchetError.signature) { try identity.verify(nothing, of: [1, 2, 3]) }
        #expect(throws: RatchetError.key) { try Curve25519Key(bytes: []) }
        #expect(throws: RatchetError.key) { try Ed25519Key(bytes: [UInt8](repeating: 0, count: 33)) }
        #expect(throws: RatchetError.signature) { try Signature(bytes: [UInt8](repeating: 0, count: 63)) }
    }

    @Test func anotherFormOfASignatureIsRefused() throws {
        let key = try SigningKey()
        let signature = try key.sign([1]).bytes
        // A lenient verifier accepts the scalar plus the group order in place of the scalar.
        let order = bytes(hex: "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var (changed, overflow) = (signature, 0)
        for offset in 0..<32 {
            let sum = Int(changed[32 + offset]) + Int(order[offset]) + overflow
            changed[32 + offset] = UInt8(sum & 255)
            overflow = sum >> 8
        }
        #expect(throws: RatchetError.signature) { try key.publicKey.verify(Signature(bytes: changed), of: [1]) }
    }
}

/// Points whose Diffie-Hellman result with any secret key is zero.
enum SmallOrder {
    static let curve25519 = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ].map(bytes(hex:))
}
