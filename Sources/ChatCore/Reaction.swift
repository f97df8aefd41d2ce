/// An emoji, or a short text, that members put under a message.
public struct Reaction: Equatable, Sendable {
    public var text: String
    /// In the order in which they gave it; each once.
    public var senders: [MemberID]

    public init(text: String, senders: [MemberID]) {
        self.text = text
        self.senders = senders
    }
}
