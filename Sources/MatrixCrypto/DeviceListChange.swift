public import ChatCore
import JSONReading
import Ratchets

/// What an answer makes of the devices of one user.
public struct DeviceListChange: Equatable, Sendable {
    public let user: ExactText
    /// All that there are now, by identifier.
    public private(set) var devices: [ExactText: DeviceKeys] = [:]
    /// Those that were not known before.
    public private(set) var added: Set<ExactText> = []
    /// Those that were known, and are disputed now or no longer.
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
        /// More devices than anybody has.
        case tooMany
    }

    public static let maxDevices = 1_000

    /// - Parameters:
    ///   - answer: By identifiers, as the server has them.
    ///   - known: What was stored: it is right where the two disagree.
    init(of user: ExactText, answered answer: [String: JSONValue], known: [DeviceKeys]) {
        self.user = user
        let known = Dictionary(known.map { ($0.device, $0) }) { first, _ in first }
        let answered = Dictionary(answer.map { (ExactText($0.key), $0.value) }) { first, _ in first }
        // The known ones first, so that no new device pushes one out or gets its key.
        let order = answered.keys.sorted { (known[$0] == nil ? 1 : 0, $0) < (known[$1] == nil ? 1 : 0, $1) }
        var owners: [[UInt8]: ExactText] = [:]
        for id in order {
            guard devices.count < Self.maxDevices else {
                rejected[id] = .tooMany
                continue
            }
            do throws(DeviceKeys.Failure) {
                let keys = try DeviceKeys(answered[id] ?? .null, of: user, device: id)
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
            if let earlier = known[id], let now = devices[id], earlier.isDisputed != now.isDisputed {
                changed.insert(id)
            }
            if let keys = devices[id] { owners[keys.identityKey.bytes] = id }
        }
        added = Set(devices.keys).subtracting(known.keys)
        removed = Set(known.keys).subtracting(devices.keys)
    }
}
