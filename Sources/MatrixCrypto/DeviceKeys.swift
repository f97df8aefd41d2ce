public import ChatCore
import Foundation
public import JSONReading
public import Ratchets

/// The keys of a device, as its owner signed them and a server passed them on.
public struct DeviceKeys: Equatable, Sendable {
    public let user: ExactText
    public let device: ExactText
    public let identityKey: Curve25519Key
    public let signingKey: Ed25519Key
    public let algorithms: Set<String>
    /// What its owner calls it; not signed, so never more than a hint.
    public let name: String?
    /// Whether the server last had other keys for it, or such that nobody has signed: nothing is encrypted for it then.
    public internal(set) var isDisputed = false
    /// The self-signing key of its owner's identity that has signed it; `nil` if none has that is known.
    public internal(set) var confirmedBy: Ed25519Key?
    /// What signatures of it are over, of one's own devices: to sign them.
    var object: Data?

    public enum Failure: Error, Hashable, Sendable {
        case malformed
        /// It names another user or device than the place where it stands.
        case misplaced
        /// It lacks one of the two keys, or one is none.
        case keys
        /// The device itself has not signed it.
        case signature
    }

    /// Longer identifiers are nobody's: they would only fill the store.
    static let maxIdentifier = 255

    /// Checks all that can be checked without others: the place, both keys, and the signature of the device.
    /// - Parameter selfSigning: What confirms it, if it has signed it.
    public init(
        _ value: JSONValue, of user: ExactText, device: ExactText, selfSigning: Ed25519Key? = nil
    ) throws(Failure) {
        guard let object = value.object, let keys = object["keys"]?.object,
            let algorithms = object["algorithms"]?.array,
            user.bytes.count <= Self.maxIdentifier, device.bytes.count <= Self.maxIdentifier, !device.bytes.isEmpty
        else { throw .malformed }
        guard object["user_id"]?.exactText == user, object["device_id"]?.exactText == device else { throw .misplaced }
        guard let identity = keys.member(ExactText("curve25519:\(device.text)"))?.string,
            let signing = keys.member(ExactText("ed25519:\(device.text)"))?.string
        else { throw .keys }
        do {
            identityKey = try Curve25519Key(base64: identity)
            signingKey = try Ed25519Key(base64: signing)
        } catch {
            throw .keys
        }
        do {
            try SignedJSON.verify(object, by: user, keyID: device, key: signingKey)
        } catch {
            throw .signature
        }
        self.user = user
        self.device = device
        self.algorithms = Set(algorithms.prefix(32).compactMap(\.string))
        name = object["unsigned"]?.object?["device_display_name"]?.string.map { String($0.prefix(200)) }
        // Whatever is wrong with a signature, it is none.
        if let selfSigning,
            (try? SignedJSON.verify(object, by: user, keyID: ExactText("\(selfSigning)"), key: selfSigning)) != nil
        {
            confirmedBy = selfSigning
        }
    }

    /// Of keys that were checked before.
    init(
        user: ExactText, device: ExactText, identityKey: Curve25519Key, signingKey: Ed25519Key, algorithms: Set<String>,
        name: String?
    ) {
        self.user = user
        self.device = device
        self.identityKey = identityKey
        self.signingKey = signingKey
        self.algorithms = algorithms
        self.name = name
    }

    /// Whether keys of rooms can be sent to it.
    public var readsRooms: Bool {
        algorithms.isSuperset(of: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"])
    }

    /// Whether both have the same keys: those of a device that was seen never change.
    public func hasKeys(of other: DeviceKeys) -> Bool {
        identityKey == other.identityKey && signingKey == other.signingKey
    }
}
