import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn)) struct SecretStorageKeyTests {
    /// From the tests of matrix-rust-sdk.
    private static let recoveryKey = "EsTj 3yST y93F SLpB jJsz eAXc 2XzA ygD3 w69H fGaN TKBj jXEd"
    private static let content: JSONValue = [
        "algorithm": "m.secret_storage.v1.aes-hmac-sha2", "iv": "xv5b6/p3ExEw++wTyfSHEg==",
        "mac": "ujBBbXahnTAMkmPUX2/0+VTfUh63pGyVRuBcDMgmJC8=",
    ]

    private func description(_ changes: [String: JSONValue] = [:]) throws -> SecretStorageKey {
        let content = (Self.content.object ?? [:]).merging(changes) { $1 }
        return try SecretStorageKey(id: "bmur2d9ypPUH1msSwCxQOJkuKRmJI55e", content: .object(content))
    }

    @Test("A key matches the description that another client wrote.") func knownDescription() throws {
        let key = try RecoveryKeyCodec.key(from: Self.recoveryKey)
        #expect(try description().proof(of: key) == .proven)
        #expect(try description().proof(of: KeyMaterial()) == .wrong)
        #expect(try description(["mac": "9Lw12m5SKDipNghdQXKjgpfdj1/K7HFI2brO+UWAGoM"]).proof(of: key) == .wrong)
        #expect(try description(["iv": "gH2iNpiETFhApvW6/FFEJQ"]).proof(of: key) == .wrong)
        #expect(try description(["mac": .null]).proof(of: key) == .unproven)
        #expect(try description(["mac": .null, "iv": .null]).proof(of: key) == .unproven)
        #expect(try description().type == "m.secret_storage.key.bmur2d9ypPUH1msSwCxQOJkuKRmJI55e")
    }

    /// Passphrase, salt and check data are from a test of matrix-rust-sdk, which has 10 iterations: too few here.
    @Test("So few iterations that the key can be guessed, or so many that deriving it takes hours, are rejected.")
    func iterations() async throws {
        let salt: JSONValue = "IuLnH7S85YtZmkkBJKwNUKxWF42g9O1H"
        for count: Int64 in [-1, 0, 10, 99_999, 10_000_001, .max] {
            let key = try description([
                "passphrase": ["algorithm": "m.pbkdf2", "salt": salt, "iterations": .integer(count)]
            ])
            #expect(key.passphrase?.isUsable == false)
            await #expect(throws: SecretStorageKey.Failure.iterations) {
                try await key.key(from: "It's a secret to everybody")
            }
        }
        let bytes = try await PassphraseKey.bytes(
            from: "It's a secret to everybody", salt: Array("IuLnH7S85YtZmkkBJKwNUKxWF42g9O1H".utf8), rounds: 10,
            count: 32)
        let known = try description([
            "iv": "gH2iNpiETFhApvW6/FFEJQ", "mac": "9Lw12m5SKDipNghdQXKjgpfdj1/K7HFI2brO+UWAGoM",
        ])
        #expect(try known.proof(of: KeyMaterial(bytes: bytes)) == .proven)
    }

    @Test("The key is derived from a passphrase.") func passphrase() async throws {
        let passphrase: JSONValue = ["algorithm": "m.pbkdf2", "salt": "salt", "iterations": 100_000, "bits": 256]
        let made = try await description(["passphrase": passphrase]).key(from: "Größe")
        let expected = try KeyDerivation.pbkdf2SHA512(
            passphrase: "Größe", salt: Array("salt".utf8), rounds: 100_000, count: 32)
        #expect(try made.isEqual(to: KeyMaterial(bytes: expected)))
        await #expect(throws: SecretStorageKey.Failure.passphrase) { try await description().key(from: "Größe") }
    }

    @Test(
        "An unusable passphrase does not affect the key.",
        arguments: [
            5, "x", [:], ["algorithm": "m.argon2", "salt": "s", "iterations": 500_000],
            ["algorithm": "m.pbkdf2", "iterations": 500_000], ["algorithm": "m.pbkdf2", "salt": "s"],
            ["algorithm": "m.pbkdf2", "salt": "s", "iterations": "500000"],
            ["algorithm": "m.pbkdf2", "salt": "s", "iterations": .number(500_000)],
            ["algorithm": "m.pbkdf2", "salt": "s", "iterations": 500_000, "bits": 128],
            ["algorithm": "m.pbkdf2", "salt": .string(String(repeating: "s", count: 2_000)), "iterations": 500_000],
        ] as [JSONValue])
    func unusablePassphrase(_ json: JSONValue) throws {
        let key = try description(["passphrase": json])
        #expect(key.passphrase == nil)
        #expect(try key.proof(of: RecoveryKeyCodec.key(from: Self.recoveryKey)) == .proven)
    }

    @Test("A damaged description is rejected with the reason.") func damaged() {
        func failure(_ changes: [String: JSONValue]) -> SecretStorageKey.Failure? {
            do {
                _ = try description(changes)
                return nil
            } catch {
                return error as? SecretStorageKey.Failure
            }
        }
        for algorithm: JSONValue in [.null, 5, "m.secret_storage.v2", []] {
            #expect(failure(["algorithm": algorithm]) == .algorithm)
        }
        for mac: JSONValue in [5, "", "!", "AAAA", .string(String(repeating: "A", count: 100_000))] {
            #expect(failure(["mac": mac]) == .check)
        }
        for iv: JSONValue in [5, .null, "", "AAAA", "!"] { #expect(failure(["iv": iv]) == .check) }
        #expect(throws: SecretStorageKey.Failure.id) { try SecretStorageKey(id: "", content: Self.content) }
        let long = ExactText(String(repeating: "x", count: 256))
        #expect(throws: SecretStorageKey.Failure.id) { try SecretStorageKey(id: long, content: Self.content) }
        #expect(throws: SecretStorageKey.Failure.algorithm) { try SecretStorageKey(id: "x", content: []) }
    }

    @Test("A new key matches its own description only.") func newKey() throws {
        let key = try KeyMaterial()
        let made = try SecretStorageKey(describing: key, name: "Parlance")
        let read = try SecretStorageKey(id: made.id, content: made.content)
        #expect(read == made && read.name == "Parlance")
        #expect(try read.proof(of: key) == .proven)
        #expect(try read.proof(of: KeyMaterial()) == .wrong)
        #expect(try SecretStorageKey(describing: key).id != made.id)
        #expect(made.id.bytes.count == 32)
    }

    @Test("A secret is encrypted for one key, and only that key decrypts it.") func secrets() throws {
        let (key, secret) = (try KeyMaterial(), try KeyMaterial())
        let encrypted = try EncryptedSecret(.backup, secret, with: key)
        let content = EncryptedSecret.content(["a": encrypted])
        #expect(EncryptedSecret.entry(in: content, for: "a") == .encrypted(encrypted))
        #expect(EncryptedSecret.entry(in: content, for: "b") == .none)
        #expect(EncryptedSecret.hasOthers(in: content, than: "b") && !EncryptedSecret.hasOthers(in: content, than: "a"))
        #expect(try encrypted.secret(.backup, with: key).isEqual(to: secret))
        #expect(throws: RatchetError.mac) { try encrypted.secret(.backup, with: KeyMaterial()) }
        #expect(throws: RatchetError.mac) { try encrypted.secret(.master, with: key) }
        // With padding, as other clients write it.
        let padded = secret.withBytes { Data(bytes: $0, count: 32).base64EncodedString() }
        let other = try EncryptedSecret(Array(padded.utf8), name: SecretName.backup.rawValue, key: key)
        #expect(try other.secret(.backup, with: key).isEqual(to: secret))
        for text in ["", "AAAA", "no base64", padded + padded] {
            let damaged = try EncryptedSecret(Array(text.utf8), name: SecretName.backup.rawValue, key: key)
            #expect(throws: RatchetError.malformed) { try damaged.secret(.backup, with: key) }
        }
    }

    @Test("Each field of a stored secret is validated strictly, and key IDs by their bytes.") func damagedEntries()
        throws
    {
        let whole: [String: JSONValue] = [
            "iv": "bdfCwu+ECYgZ/jWTkGrQ/A==",
            "ciphertext": "lCRSSA1lChONEXj/8RyogsgAa8ouQwYDnLr4XBCheRikrZykLRzPCx3doCE=",
            "mac": "NXeV1dZaOe2JLvQ6Hh6tFto7AgFFdaQnY0l9pruwdtE=",
        ]
        func entry(_ changes: [String: JSONValue?]) -> EncryptedSecret.Entry {
            var json = whole
            for (name, value) in changes { json[name] = value }
            return EncryptedSecret.entry(in: ["encrypted": ["a": .object(json)]], for: "a")
        }
        guard case .encrypted(let secret) = entry([:]) else { throw RatchetError.malformed }
        #expect(secret.mac.count == 32 && secret.iv.count == 16 && secret.ciphertext.count == 44)
        for name in whole.keys {
            for value: JSONValue? in [nil, .null, 5, "", "!", [:]] {
                #expect(entry([name: value]) == .malformed, "\(name)")
            }
        }
        #expect(entry(["mac": "AAAA"]) == .malformed && entry(["iv": "AAAA"]) == .malformed)
        #expect(entry(["ciphertext": .string(String(repeating: "A", count: 100_000))]) == .malformed)
        for content: JSONValue in [["encrypted": []], ["encrypted": 5], ["encrypted": .null]] {
            #expect(EncryptedSecret.entry(in: content, for: "a") == .malformed)
        }
        #expect(EncryptedSecret.entry(in: [:], for: "a") == .none)
        #expect(EncryptedSecret.entry(in: ["encrypted": ["e\u{301}": .object(whole)]], for: "é") == .none)
    }
}
