public import ChatCore
public import JSONReading
public import Ratchets

/// Signs JSON objects and verifies their signatures.
public enum SignedJSON {
    public enum Failure: Error, Hashable, Sendable {
        /// The object has no canonical form.
        case unsignable
        /// There is no signature by this key.
        case unsigned
        /// There is a signature, but it is invalid.
        case invalid
    }

    /// The bytes that a signature covers: the object without `signatures` and without `unsigned`, which servers add.
    public static func signedBytes(of object: [String: JSONValue]) throws(Failure) -> [UInt8] {
        var object = object
        object["signatures"] = nil
        object["unsigned"] = nil
        do {
            return try CanonicalJSON.bytes(of: .object(object))
        } catch {
            throw .unsignable
        }
    }

    /// Throws unless `key` has signed the object on behalf of `user`, under the key ID `ed25519:keyID`.
    public static func verify(
        _ object: [String: JSONValue], by user: ExactText, keyID: ExactText, key: Ed25519Key
    ) throws(Failure) {
        guard
            let text = object["signatures"]?.object?.member(user)?.object?
                .member(ExactText("ed25519:\(keyID.text)"))?.string
        else { throw .unsigned }
        let bytes = try signedBytes(of: object)
        do {
            try key.verify(Signature(base64: text), of: bytes)
        } catch {
            throw .invalid
        }
    }

    /// Adds a signature to an object; existing ones stay.
    public static func signed(
        _ object: [String: JSONValue], by user: ExactText, keyID: ExactText, sign: ([UInt8]) throws -> Signature
    ) throws -> [String: JSONValue] {
        let signature = try sign(signedBytes(of: object))
        var object = object
        var all = object["signatures"]?.object ?? [:]
        var own = all.member(user)?.object ?? [:]
        own["ed25519:\(keyID.text)"] = .string("\(signature)")
        all[user.text] = .object(own)
        object["signatures"] = .object(all)
        return object
    }
}
