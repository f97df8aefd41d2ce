/// The message that is being answered, beside whatever else the composer does.
public struct ReplyTarget: Hashable, Sendable, Codable {
    /// What is known of the message's text.
    public enum Preview: Hashable, Sendable, Codable {
        case loading
        case text(String)
        /// Deleted or not to be had.
        case gone
    }

    public var messageID: String
    public var sender: String
    public var preview: Preview

    public init(messageID: String, sender: String, preview: Preview = .loading) {
        self.messageID = messageID
        self.sender = sender
        self.preview = preview
    }
}
