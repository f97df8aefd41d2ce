/// What the application was asked to open.
public nonisolated enum OpenTarget: Equatable, Sendable {
    /// A Matrix ID, an alias or a link.
    case address(String)
    /// The name of a room.
    case room(String)
    /// A notification's message.
    case message(NotificationTarget)
    /// A notification's message, with a reply to it in the composer.
    case reply(NotificationTarget)

    /// Tells an address from a name: it has a scheme or begins with the sigil of an identifier.
    public init(_ text: String) {
        let hasScheme = ["matrix:", "https:", "http:"].contains { text.lowercased().hasPrefix($0) }
        let isIdentifier = "#!@".contains(text.prefix(1)) && text.contains(":")
        self = hasScheme || isIdentifier ? .address(text) : .room(text)
    }
}
