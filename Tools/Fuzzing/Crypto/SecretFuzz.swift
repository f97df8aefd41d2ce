import ChatCore
import JSONReading
import MatrixCrypto
import Ratchets

/// The account data of the secret storage: descriptions of its keys, and secrets.
struct SecretFuzz: CryptoFuzz {
    private let key: KeyMaterial
    private let secret: KeyMaterial
    private let described: SecretStorageKey
    private let description: JSONValue
    private let content: JSONValue
    private let damage: JSONDamage

    init() async throws {
        key = try KeyMaterial()
        secret = try KeyMaterial()
        described = try SecretStorageKey(describing: key, name: "name")
        var members = described.content.object ?? [:]
        members["passphrase"] = ["algorithm": "m.pbkdf2", "salt": "salt", "iterations": 500_000, "bits": 256]
        description = .object(members)
        content = EncryptedSecret.content([
            described.id: try EncryptedSecret(.master, secret, with: key),
            "other": try EncryptedSecret(.master, key, with: secret),
        ])
        damage = JSONDamage([
            described.id.text, "encrypted", "iv", "mac", "ciphertext", "m.pbkdf2", "iterations", "bits", "salt",
            SecretStorageKey.algorithm,
        ])
    }

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        input.flag() ? secretViolation(&input) : try await keyViolation(&input)
    }

    private func secretViolation(_ input: inout FuzzInput) -> String? {
        let damaged = damage.applied(to: content, by: &input)
        _ = EncryptedSecret.hasOthers(in: damaged, than: described.id)
        switch EncryptedSecret.entry(in: damaged, for: described.id) {
        case .none, .malformed: return damaged == content ? "a secret is lost" : nil
        case .encrypted(let encrypted):
            guard let opened = try? encrypted.secret(.master, with: key) else {
                return damaged == content ? "a secret does not open" : nil
            }
            return opened.isEqual(to: secret) ? nil : "a secret is another"
        }
    }

    private func keyViolation(_ input: inout FuzzInput) async throws -> String? {
        let damaged = damage.applied(to: description, by: &input)
        guard let read = try? SecretStorageKey(id: described.id, content: damaged) else {
            return damaged == description ? "a key is refused" : nil
        }
        if (try? read.proof(of: secret)) == .proven { return "another key is taken for this one" }
        if (try? SecretStorageKey(id: read.id, content: read.content)) != read { return "a key does not come back" }
        guard let passphrase = read.passphrase, !passphrase.isUsable else { return nil }
        do throws(SecretStorageKey.Failure) {
            _ = try await read.key(from: "password")
            return "\(passphrase.iterations) rounds are made"
        } catch {
            return error == .iterations ? nil : "\(error)"
        }
    }
}
