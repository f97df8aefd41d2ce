public import ChatCore
import Foundation
public import JSONReading
public import Ratchets

/// Secrets in the user's account data, which has one ciphertext for each secret storage key.
extension EncryptedSecret {
    private static let member = "encrypted"
    /// In bytes; an encrypted key is far shorter.
    private static let maxCiphertext = 4_096

    /// The account data's entry for one secret storage key.
    public enum Entry: Equatable, Sendable {
        case none
        case encrypted(EncryptedSecret)
        /// There is an entry, but it is unreadable.
        case malformed
    }

    /// - Parameter content: The account data of a secret.
    public static func entry(in content: JSONValue, for key: ExactText) -> Entry {
        guard let all = content[member] else { return .none }
        guard let entries = all.object else { return .malformed }
        guard let json = entries.member(key) else { return .none }
        guard let iv = json["iv"]?.string.flatMap({ SecretStorageKey.bytes($0, count: 16) }),
            let mac = json["mac"]?.string.flatMap({ SecretStorageKey.bytes($0, count: 32) }),
            let text = json["ciphertext"]?.string, text.utf8.count <= 2 * maxCiphertext,
            let ciphertext = try? Base64.decoded(text), (1...maxCiphertext).contains(ciphertext.count)
        else { return .malformed }
        return .encrypted(EncryptedSecret(iv: Data(iv), ciphertext: Data(ciphertext), mac: Data(mac)))
    }

    /// Builds the account data of a secret from its ciphertexts by key ID.
    public static func content(_ entries: [ExactText: EncryptedSecret]) -> JSONValue {
        let members = entries.map { ($0.key.text, $0.value.json) }
        return [member: .object(Dictionary(members) { first, _ in first })]
    }

    /// Whether the account data has entries for other keys.
    public static func hasOthers(in content: JSONValue, than key: ExactText) -> Bool {
        (content[member]?.object ?? [:]).keys.contains { !$0.utf8.elementsEqual(key.bytes) }
    }

    private var json: JSONValue {
        [
            "iv": .string(Base64.encoded(Array(iv))), "ciphertext": .string(Base64.encoded(Array(ciphertext))),
            "mac": .string(Base64.encoded(Array(mac))),
        ]
    }

    /// Encrypts one of the user's secrets, encoded in base64.
    public init(_ name: SecretName, _ secret: KeyMaterial, with key: KeyMaterial) throws(RatchetError) {
        let bytes = secret.withBytes { Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)) }
        try self.init(Array(Base64.encoded(bytes).utf8), name: name.rawValue, key: key)
    }

    /// Decrypts one of the user's secrets.
    /// - Throws: ``RatchetError/mac`` if the key is wrong, or ``RatchetError/malformed`` if the plaintext is not 32
    ///   bytes in base64.
    public func secret(_ name: SecretName, with key: KeyMaterial) throws(RatchetError) -> KeyMaterial {
        let text = try decrypt(name: name.rawValue, key: key)
        guard let bytes = SecretStorageKey.bytes(String(decoding: text, as: UTF8.self), count: KeyMaterial.count) else {
            throw .malformed
        }
        return try KeyMaterial(bytes: bytes)
    }
}
