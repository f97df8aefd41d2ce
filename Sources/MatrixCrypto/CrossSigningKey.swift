import ChatCore
import JSONReading
import Ratchets

/// One of the three public keys of a user's identity, as its owner published it.
struct CrossSigningKey: Equatable, Sendable {
    enum Usage: String, Sendable {
        case master
        case selfSigning = "self_signing"
        case userSigning = "user_signing"
    }

    enum Failure: Error, Hashable, Sendable {
        case malformed
        /// It names a user other than the one it is listed under.
        case misplaced
        /// Its `usage` does not include the expected one.
        case usage
        /// It does not have exactly one key, the key is invalid, or the key ID does not match the key.
        case key
        /// The master key has not signed it.
        case signature
    }

    let key: Ed25519Key
    /// The object as received, which signatures are verified against.
    let object: [String: JSONValue]

    init(_ value: JSONValue, of user: ExactText, for usage: Usage) throws(Failure) {
        guard let object = value.object, let usages = object["usage"]?.array, let keys = object["keys"]?.object else {
            throw .malformed
        }
        guard object["user_id"]?.exactText == user else { throw .misplaced }
        guard usages.prefix(8).contains(where: { $0.string == usage.rawValue }) else { throw .usage }
        guard keys.count == 1, let (name, text) = keys.first, let text = text.string,
            let key = try? Ed25519Key(base64: text), ExactText(name) == ExactText("ed25519:\(key)")
        else { throw .key }
        self.key = key
        self.object = object
    }

    /// Also requires a valid signature by the master key.
    init(_ value: JSONValue, of user: ExactText, for usage: Usage, signedBy master: Ed25519Key) throws(Failure) {
        try self.init(value, of: user, for: usage)
        guard isSigned(by: master, of: user) else { throw .signature }
    }

    func isSigned(by signer: Ed25519Key, of user: ExactText) -> Bool {
        // An invalid signature counts as a missing one.
        (try? SignedJSON.verify(object, by: user, keyID: ExactText("\(signer)"), key: signer)) != nil
    }

    /// The object to publish, before it is signed.
    static func object(_ key: Ed25519Key, of user: ExactText, for usage: Usage) -> [String: JSONValue] {
        [
            "user_id": .string(user.text), "usage": [.string(usage.rawValue)],
            "keys": .object(["ed25519:\(key)": .string("\(key)")]),
        ]
    }
}
