/// A reaction to a message: an emoji or a short text.
public struct Reaction: Equatable, Sendable {
    public var text: String
    /// The distinct senders, in the order they reacted.
    public var senders: [MemberID]

    public init(text: String, senders: [MemberID]) {
        self.text = text
        self.senders = senders
    }
}
