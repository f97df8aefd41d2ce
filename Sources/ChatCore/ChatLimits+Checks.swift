import Composer

extension ChatLimits {
    /// A room's name as it is stored: on one line, without blanks around it or in a row.
    /// - Returns: nil if nothing is left or more than ``roomNameLength`` characters are.
    public static func roomName(from typed: String) -> String? {
        let name = typed.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return (1...roomNameLength).contains(name.count) ? name : nil
    }

    /// Whether a message holds together: see ``isValidMessage(_:attachments:)``, and what somebody does goes without files.
    public static func isValid(_ message: WrittenMessage) -> Bool {
        isValidMessage(message.text.source, attachments: message.files.count)
            && (message.kind != .emote || message.files.isEmpty)
    }

    /// Whether a message may have this text: something visible, of at most ``messageBytes``. With files, of which
    /// there are at most ``attachments``, it need not have any.
    public static func isValidMessage(_ text: String, attachments count: Int = 0) -> Bool {
        text.utf8.count <= messageBytes && count <= attachments && (count > 0 || text.contains { !$0.isWhitespace })
    }
}
