import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn)) struct VerificationTests {
    @Test func bothSidesSeeTheSame() throws {
        let (one, other) = (try ShortAuthentication(), try ShortAuthentication())
        // One key alone yields nothing.
        #expect(throws: RatchetError.argument) { try one.bytes(info: "info") }
        try one.agree(with: other.publicKey)
        try other.agree(with: one.publicKey)
        #expect(throws: RatchetError.argument) { try one.agree(with: other.publicKey) }
        #expect(try one.emoji(info: "info") == other.emoji(info: "info"))
        #expect(try one.emoji(info: "info") != one.emoji(info: "another info"))
        #expect(try one.numbers(info: "info") == other.numbers(info: "info"))
        #expect(try one.emoji(info: "info").allSatisfy { (0...63).contains($0) })
        #expect(try one.numbers(info: "info").allSatisfy { (1000...9191).contains($0) })

        try other.verify(mac: one.mac(of: "key", info: "info"), of: "key", info: "info")
        try other.verify(oldMAC: one.oldMAC(of: "key", info: "info"), of: "key", info: "info")
        #expect(throws: RatchetError.mac) {
            try other.verify(mac: one.mac(of: "key", info: "info"), of: "another key", info: "info")
        }
        #expect(throws: RatchetError.mac) {
            try other.verify(oldMAC: one.mac(of: "key", info: "info"), of: "key", info: "info")
        }
        for mac in ["", "AAAA"] {
            #expect(throws: RatchetError.mac) { try other.verify(mac: mac, of: "key", info: "info") }
        }
        #expect(throws: RatchetError.malformed) { try other.verify(mac: "%", of: "key", info: "info") }
    }

    /// The emoji and numbers of six bytes, bit by bit, as specified.
    @Test func sixBytesAreCut() throws {
        let (one, other) = (try ShortAuthentication(), try ShortAuthentication())
        try one.agree(with: other.publicKey)
        let bits = try one.bytes(info: "info").flatMap { byte in (0..<8).map { Int(byte >> (7 - $0)) & 1 } }
        func number(_ range: Range<Int>) -> Int { bits[range].reduce(0) { $0 << 1 | $1 } }
        #expect(try one.emoji(info: "info") == (0..<7).map { number($0 * 6..<$0 * 6 + 6) })
        #expect(try one.numbers(info: "info") == (0..<3).map { number($0 * 13..<$0 * 13 + 13) + 1000 })
    }

    @Test func theBackupIsRead() throws {
        let key = try BackupKey(KeyMaterial())
        for text in ["", "a session", String(repeating: "x", count: 10_000)] {
            let data = try BackedUpData(Array(text.utf8), for: key.publicKey)
            #expect(data.mac.count == 8)
            #expect(try key.decrypt(data) == Array(text.utf8))
            #expect(throws: RatchetError.mac) { try BackupKey(KeyMaterial()).decrypt(data) }
            for mac in [[], Array(data.mac.dropLast()), data.mac.map { $0 ^ 1 }] {
                #expect(throws: RatchetError.mac) {
                    try key.decrypt(
                        BackedUpData(ephemeralKey: data.ephemeralKey, mac: mac, ciphertext: data.ciphertext))
                }
            }
            #expect(throws: RatchetError.mac) {
                try key.decrypt(
                    BackedUpData(
                        ephemeralKey: data.ephemeralKey, mac: data.mac, ciphertext: Array(data.ciphertext.dropLast())))
            }
        }
        let zero = try Curve25519Key(bytes: [UInt8](repeating: 0, count: 32))
        #expect(throws: RatchetError.key) {
            try key.decrypt(
                BackedUpData(ephemeralKey: zero, mac: [UInt8](repeating: 0, count: 8), ciphertext: []))
        }
    }

    @Test func keysSayNothing() throws {
        let key = try KeyMaterial(bytes: [UInt8](repeating: 0x41, count: 32))
        #expect("\(key)" == "KeyMaterial")
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!dumped.contains("65") && !dumped.contains("0x"))
        #expect(key.isEqual(to: try KeyMaterial(bytes: [UInt8](repeating: 0x41, count: 32))))
        #expect(!key.isEqual(to: try KeyMaterial()))
        #expect(throws: RatchetError.argument) { try KeyMaterial(bytes: [1]) }
        #expect(try Randomness.bytes(32) != Randomness.bytes(32))
        #expect(
            ConstantTime.equal([1, 2], [1, 2]) && !ConstantTime.equal([1, 2], [1, 3])
                && !ConstantTime.equal([1], [1, 2]))
    }

    @Test func theLibraryIsTheOneThatWasRead() { #expect(RatchetLibrary.version == "vodozemac 0.10.0") }
}
