public import ChatCore
import Foundation
import JSONReading
import Ratchets

/// The result of applying a `keys/query` response to the devices of one user.
public struct DeviceListChange: Equatable, Sendable {
    public let user: ExactText
    /// The current devices by device ID.
    public private(set) var devices: [ExactText: DeviceKeys] = [:]
    /// Devices that were not known before.
    public private(set) var added: Set<ExactText> = []
    /// Known devices that became disputed or confirmed, or ceased to be.
    public private(set) var changed: Set<ExactText> = []
    /// Known devices that are gone.
    public private(set) var removed: Set<ExactText> = []
    /// Devices that were rejected, and why.
    public private(set) var rejected: [ExactText: Reason] = [:]

    public enum Reason: Hashable, Sendable {
        case unreadable(DeviceKeys.Failure)
        /// Its keys differ from the known ones. A device's keys never change, so these are someone else's.
        case changedKeys
        /// It has the identity key of another device of the user.
        case sharedKey
        /// Its device ID equals a key of the user's identity, so that their key IDs would collide.
        case identityName
        /// The user has more than ``maxDevices`` devices, or as many invalid ones come before it.
        case tooMany
    }

    public static let maxDevices = 1_000

    /// - Parameters:
    ///   - answer: The user's devices in the response, by device ID.
    ///   - known: The stored devices, which prevail where the two disagree.
    ///   - identity: The user's identity, which confirms devices.
    ///   - keepsObjects: Whether to retain the signed bytes, as for the user's own devices.
    init(
        of user: ExactText, answered answer: [String: JSONValue], known: [DeviceKeys], identity: Identity? = nil,
        keepsObjects: Bool = false
    ) {
        self.user = user
        let known = Dictionary(known.map { ($0.device, $0) }) { first, _ in first }
        let answered = Dictionary(answer.map { (ExactText($0.key), $0.value) }) { first, _ in first }
        // Known devices first, so that no new one displaces them or claims their key.
        let order = answered.keys.sorted { (known[$0] == nil ? 1 : 0, $0) < (known[$1] == nil ? 1 : 0, $1) }
        var owners: [[UInt8]: ExactText] = [:]
        let identityNames = Set(identity?.keys.map { ExactText("\($0)") } ?? [])
        // How many unknown devices had their keys or signature checked, which costs the same for invalid ones.
        var checked = 0
        for id in order {
            guard !identityNames.contains(id) else {
                rejected[id] = .identityName
                continue
            }
            let isKnown = known[id] != nil
            guard devices.count < Self.maxDevices, isKnown || checked < Self.maxDevices else {
                rejected[id] = .tooMany
                continue
            }
            do throws(DeviceKeys.Failure) {
                var keys = try DeviceKeys(
                    answered[id] ?? .null, of: user, device: id, selfSigning: identity?.selfSigning)
                if !isKnown { checked += 1 }
                // Its signature was verified, so it has a canonical form.
                if keepsObjects, let object = answered[id]?.object {
                    keys.object = (try? SignedJSON.signedBytes(of: object)).map { Data($0) }
                }
                if let earlier = known[id], !earlier.hasKeys(of: keys) {
                    rejected[id] = .changedKeys
                } else if owners[keys.identityKey.bytes] != nil {
                    rejected[id] = .sharedKey
                    continue
                } else {
                    devices[id] = keys
                }
            } catch {
                if !isKnown, error.isOfKeys { checked += 1 }
                rejected[id] = .unreadable(error)
            }
            // The server still lists it, so it stays with its known keys, marked as disputed.
            if rejected[id] != nil, var earlier = known[id] {
                earlier.isDisputed = true
                devices[id] = earlier
            }
            if let earlier = known[id], let now = devices[id], !earlier.isTrusted(as: now) { changed.insert(id) }
            if let keys = devices[id] { owners[keys.identityKey.bytes] = id }
        }
        added = Set(devices.keys).subtracting(known.keys)
        removed = Set(known.keys).subtracting(devices.keys)
    }
}

extension DeviceKeys.Failure {
    /// Whether it was found only by decoding keys or verifying a signature.
    fileprivate var isOfKeys: Bool {
        switch self {
        case .keys, .signature: true
        case .malformed, .misplaced: false
        }
    }
}

extension DeviceKeys {
    fileprivate func isTrusted(as other: DeviceKeys) -> Bool {
        isDisputed == other.isDisputed && confirmedBy == other.confirmedBy && object == other.object
    }
}
