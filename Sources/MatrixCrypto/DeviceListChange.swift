public import ChatCore
import Foundation
import JSONReading
import Ratchets

/// What an answer makes of the devices of one user.
public struct DeviceListChange: Equatable, Sendable {
    public let user: ExactText
    /// All that there are now, by identifier.
    public private(set) var devices: [ExactText: DeviceKeys] = [:]
    /// Those that were not known before.
    public private(set) var added: Set<ExactText> = []
    /// Those that were known, and are disputed or confirmed now or no longer.
    public private(set) var changed: Set<ExactText> = []
    /// Those that were known and are gone.
    public private(set) var removed: Set<ExactText> = []
    /// Those that are not accepted, and why.
    public private(set) var rejected: [ExactText: Reason] = [:]

    public enum Reason: Hashable, Sendable {
        case unreadable(DeviceKeys.Failure)
        /// Other keys than it had: those never change, so somebody else has made them.
        case changedKeys
        /// The identity key of another device of the user.
        case sharedKey
        /// Its identifier is that of a key of the user's identity: the two could be taken for one another.
        case identityName
        /// More devices than anybody has.
        case tooMany
    }

    public static let maxDevices = 1_000

    /// - Parameters:
    ///   - answer: By identifiers, as the server has them.
    ///   - known: What was stored: it is right where the two disagree.
    ///   - identity: Confirms devices.
    ///   - keepsObjects: Whether what is signed is kept, as of one's own devices.
    init(
        of user: ExactText, answered answer: [String: JSONValue], known: [DeviceKeys], identity: Identity? = nil,
        keepsObjects: Bool = false
    ) {
        self.user = user
        let known = Dictionary(known.map { ($0.device, $0) }) { first, _ in first }
        let answered = Dictionary(answer.map { (ExactText($0.key), $0.value) }) { first, _ in first }
        // The known ones first, so that no new device pushes one out or gets its key.
        let order = answered.keys.sorted { (known[$0] == nil ? 1 : 0, $0) < (known[$1] == nil ? 1 : 0, $1) }
        var owners: [[UInt8]: ExactText] = [:]
        let identityNames = Set(identity?.keys.map { ExactText("\($0)") } ?? [])
        for id in order {
            guard !identityNames.contains(id) else {
                rejected[id] = .identityName
                continue
            }
            guard devices.count < Self.maxDevices else {
                rejected[id] = .tooMany
                continue
            }
            do throws(DeviceKeys.Failure) {
                var keys = try DeviceKeys(
                    answered[id] ?? .null, of: user, device: id, selfSigning: identity?.selfSigning)
                // It was signed, so it can be written down.
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
                rejected[id] = .unreadable(error)
            }
            // It is still there, whatever was said of it: as it was known.
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

extension DeviceKeys {
    fileprivate func isTrusted(as other: DeviceKeys) -> Bool {
        isDisputed == other.isDisputed && confirmedBy == other.confirmedBy && object == other.object
    }
}
