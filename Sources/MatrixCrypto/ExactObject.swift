public import ChatCore

/// A JSON object keyed by user or device IDs, which are compared by their bytes. As keys of a Swift dictionary,
/// canonically equivalent IDs, such as those with precomposed and decomposed é, would be one member.
public struct ExactObject: Sendable {
    private var members: [ExactText: [UInt8]]

    /// - Parameter members: Names, and JSON values in bytes.
    public init(_ members: [(ExactText, [UInt8])]) {
        self.members = Dictionary(members.map { ($0.0, $0.1) }) { first, _ in first }
    }

    /// Nests values by user ID and device ID.
    public init(byDevice values: [(id: DeviceID, value: [UInt8])]) {
        let users = Dictionary(grouping: values, by: \.id.user)
        self.init(users.map { user, values in (user, ExactObject(values.map { ($0.id.device, $0.value) }).bytes) })
    }

    /// The serialized object, with members sorted by their bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (offset, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
            if offset > 0 { bytes.append(UInt8(ascii: ",")) }
            CanonicalJSON.write(member.key.bytes.span.bytes, into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes += member.value
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
