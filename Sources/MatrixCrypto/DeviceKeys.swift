public import ChatCore
import Foundation
public import JSONReading
public import Ratchets

/// The keys of a device, self-signed and relayed by a server.
public struct DeviceKeys: Equatable, Sendable {
    public let user: ExactText
    public let device: ExactText
    public let identityKey: Curve25519Key
    public let signingKey: Ed25519Key
    public let algorithms: Set<String>
    /// The display name chosen by its owner; unsigned, so never more than a hint.
    public let name: String?
    /// Whether the server last returned different or invalid keys for it; if so, nothing is encrypted for it.
    public internal(set) var isDisputed = false
    /// The self-signing key of its owner's identity that has signed it; `nil` if no known one has.
    public internal(set) var confirmedBy: Ed25519Key?
    /// The bytes that signatures cover; present only for the user's own devices, in order to sign them.
    var object: Data?

    public enum Failure: Error, Hashable, Sendable {
        case malformed
        /// It names a user or device other than the one it is listed under.
        case misplaced
        /// One of the two keys is missing or invalid.
        case keys
        /// It lacks a valid signature by the device itself.
        case signature
    }

    /// The specification's limit for user IDs; longer identifiers would only fill the store.
    static let maxIdentifier = 255

    /// Checks everything that needs no further data: the IDs, both keys, and the device's signature.
    /// - Parameter selfSigning: The owner's self-signing key, which confirms the device if it has signed it.
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
        // An invalid signature counts as a missing one.
        if let selfSigning,
            (try? SignedJSON.verify(object, by: user, keyID: ExactText("\(selfSigning)"), key: selfSigning)) != nil
        {
            confirmedBy = selfSigning
        }
    }

    /// Creates a device from keys that were verified before.
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

    /// Whether it supports the algorithms needed to receive room keys.
    public var readsRooms: Bool {
        algorithms.isSuperset(of: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"])
    }

    /// Whether both have the same keys, which never change for a known device.
    public func hasKeys(of other: DeviceKeys) -> Bool {
        identityKey == other.identityKey && signingKey == other.signingKey
    }
}
