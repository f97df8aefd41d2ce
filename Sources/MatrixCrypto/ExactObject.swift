public import ChatCore

/// A JSON object with users or devices as its members, as bytes: in a dictionary of Swift, names that look the same, such
/// as one with é and one with an e and an accent, would be one member.
public struct ExactObject: Sendable {
    private var members: [ExactText: [UInt8]]

    /// - Parameter members: Names, and JSON values as bytes.
    public init(_ members: [(ExactText, [UInt8])]) {
        self.members = Dictionary(members.map { ($0.0, $0.1) }) { first, _ in first }
    }

    /// Values by user and device.
    public init(byDevice values: [(id: DeviceID, value: [UInt8])]) {
        let users = Dictionary(grouping: values, by: \.id.user)
        self.init(users.map { user, values in (user, ExactObject(values.map { ($0.id.device, $0.value) }).bytes) })
    }

    /// With its members in the order of their bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (offset, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
            if offset > 0 { bytes.append(UInt8(ascii: ",")) }
            CanonicalJSON.write(member.key.bytes, into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes += member.value
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
