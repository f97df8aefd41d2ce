/// Text that is covered until the reader asks for it.
public struct Spoiler: Hashable, Sendable {
    /// Why it is covered; empty if nobody said.
    public var reason: String

    public init(reason: String = "") {
        self.reason = reason
    }
}
