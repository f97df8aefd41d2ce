import Composer

extension ChatLimits {
    /// Normalizes a room name: collapses white space and trims it.
    /// - Returns: `nil` if the result is empty or longer than ``roomNameLength`` characters.
    public static func roomName(from typed: String) -> String? {
        let name = typed.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return (1...roomNameLength).contains(name.count) ? name : nil
    }

    /// Whether a message is valid: see ``isValidMessage(_:attachments:)``; emotes cannot have attachments.
    public static func isValid(_ message: WrittenMessage) -> Bool {
        isValidMessage(message.text.source, attachments: message.files.count)
            && (message.kind != .emote || message.files.isEmpty)
    }

    /// Whether a message can have this text: not blank unless it has attachments, with at most ``messageBytes`` and
    /// ``attachments``.
    public static func isValidMessage(_ text: String, attachments count: Int = 0) -> Bool {
        text.utf8.count <= messageBytes && count <= attachments && (count > 0 || text.contains { !$0.isWhitespace })
    }
}
