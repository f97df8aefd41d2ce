import Composer

extension ChatLimits {
    /// Normalizes a room name: collapses white space and trims it.
    /// - Returns: `nil` if the result is empty or longer than ``roomNameLength`` characters.
    public static func roomName(from typed: String) -> String? {
        name(from: typed, maxLength: roomNameLength)
    }

    /// Normalizes the user's display name as ``roomName(from:)`` does a room's.
    /// - Returns: `nil` if the result is empty or longer than ``displayNameLength`` characters.
    public static func displayName(from typed: String) -> String? {
        name(from: typed, maxLength: displayNameLength)
    }

    private static func name(from typed: String, maxLength: Int) -> String? {
        let name = onOneLine(typed)
        return (1...maxLength).contains(name.count) ? name : nil
    }

    /// Normalizes a topic: collapses white space and trims it.
    /// - Returns: The topic, or `nil` for none.
    /// - Throws: ``ChatError/topicTooLong(limit:)``.
    public static func topic(from typed: String?) throws(ChatError) -> String? {
        let topic = typed.map(onOneLine) ?? ""
        guard topic.count <= topicLength else { throw .topicTooLong(limit: topicLength) }
        return topic.isEmpty ? nil : topic
    }

    private static func onOneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Checks a message as ``checkMessage(_:attachments:)`` does, and that an emote has no attachments.
    /// - Throws: ``ChatError``, which says what is wrong.
    public static func check(_ message: WrittenMessage) throws(ChatError) {
        if message.kind == .emote, !message.files.isEmpty { throw .attachmentsNotPermitted }
        try checkMessage(message.text.source, attachments: message.files.count)
    }

    /// Checks that a message can have this text: not blank unless it has attachments, with at most ``messageBytes`` and
    /// ``attachments``.
    /// - Throws: ``ChatError``, which says what is wrong.
    public static func checkMessage(_ text: String, attachments count: Int = 0) throws(ChatError) {
        guard text.utf8.count <= messageBytes else { throw .messageTooLong }
        guard count <= attachments else { throw .tooManyAttachments(limit: attachments) }
        guard count > 0 || text.contains(where: { !$0.isWhitespace }) else { throw .emptyMessage }
    }

    /// Whether ``checkMessage(_:attachments:)`` finds nothing wrong.
    public static func isValidMessage(_ text: String, attachments count: Int = 0) -> Bool {
        do { try checkMessage(text, attachments: count) } catch { return false }
        return true
    }
}
