public import ChatCore
import Foundation
public import JSONReading
public import Ratchets

/// Secrets as the account data of the user has them: for each key of the storage what it encrypts.
extension EncryptedSecret {
    private static let member = "encrypted"
    /// Longer ones are no key in base64.
    private static let maxCiphertext = 4_096

    /// What is stored for a key.
    public enum Entry: Equatable, Sendable {
        case none
        case encrypted(EncryptedSecret)
        /// There is something that cannot be read.
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

    /// The account data of a secret that these keys encrypt.
    public static func content(_ entries: [ExactText: EncryptedSecret]) -> JSONValue {
        let members = entries.map { ($0.key.text, $0.value.json) }
        return [member: .object(Dictionary(members) { first, _ in first })]
    }

    /// Whether account data has something that other keys read.
    public static func hasOthers(in content: JSONValue, than key: ExactText) -> Bool {
        (content[member]?.object ?? [:]).keys.contains { !$0.utf8.elementsEqual(key.bytes) }
    }

    private var json: JSONValue {
        [
            "iv": .string(Base64.encoded(Array(iv))), "ciphertext": .string(Base64.encoded(Array(ciphertext))),
            "mac": .string(Base64.encoded(Array(mac))),
        ]
    }

    /// Encrypts one of the user's secrets, as text in base64.
    public init(_ name: SecretName, _ secret: KeyMaterial, with key: KeyMaterial) throws(RatchetError) {
        let bytes = secret.withBytes { Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)) }
        try self.init(Array(Base64.encoded(bytes).utf8), name: name.rawValue, key: key)
    }

    /// One of the user's secrets.
    /// - Throws: ``RatchetError/mac`` with another key, or ``RatchetError/malformed`` if it is no 32 bytes in base64.
    public func secret(_ name: SecretName, with key: KeyMaterial) throws(RatchetError) -> KeyMaterial {
        let text = try decrypt(name: name.rawValue, key: key)
        guard let bytes = SecretStorageKey.bytes(String(decoding: text, as: UTF8.self), count: KeyMaterial.count) else {
            throw .malformed
        }
        return try KeyMaterial(bytes: bytes)
    }
}
