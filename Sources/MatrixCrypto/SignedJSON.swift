public import ChatCore
public import JSONReading
public import Ratchets

/// Signing JSON objects, and checking who signed one.
public enum SignedJSON {
    public enum Failure: Error, Hashable, Sendable {
        /// It is not an object, or one that cannot be signed.
        case unsignable
        /// There is no signature of this key.
        case unsigned
        /// There is one, and it does not hold.
        case invalid
    }

    /// What a signature is over: the object without its signatures, and without what servers add.
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

    /// Throws unless `key` has signed the object in the name of `user` as `ed25519:id`.
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

    /// The object with one more signature; others stay.
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
