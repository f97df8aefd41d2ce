/// Text that is hidden until the user reveals it.
public struct Spoiler: Hashable, Sendable {
    /// The reason; may be empty.
    public var reason: String

    public init(reason: String = "") {
        self.reason = reason
    }
}
