extension ChatLimits {
    /// A room's name as it is stored: on one line, without blanks around it or in a row.
    /// - Returns: nil if nothing is left or more than ``roomNameLength`` characters are.
    public static func roomName(from typed: String) -> String? {
        let name = typed.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return (1...roomNameLength).contains(name.count) ? name : nil
    }

    /// Whether a message may have this text: something visible, of at most ``messageBytes``.
    public static func isValidMessage(_ text: String) -> Bool {
        text.utf8.count <= messageBytes && text.contains { !$0.isWhitespace }
    }
}
