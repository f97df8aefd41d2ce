/// Derives a chat's name from the localized file name of its export.
enum WhatsAppName {
    /// The prefixes of the chat's name in the most common languages.
    private static let frames = [
        "WhatsApp Chat with ", "WhatsApp Chat - ", "WhatsApp-Chat mit ", "WhatsApp Chat mit ", "Chat de WhatsApp con ",
        "Discussion WhatsApp avec ", "Chat WhatsApp con ", "Conversa do WhatsApp com ", "WhatsApp-chat met ",
        "Czat WhatsApp z ", "Чат WhatsApp с контактом ", "Чат WhatsApp с ", "WhatsApp Sohbeti - ",
        "WhatsApp-chatt med ",
    ]

    /// Whether a file has the name of a chat's text: `_chat.txt` on iOS, a localized one on Android.
    static func isChat(file: String) -> Bool {
        guard file.hasSuffix(".txt") else { return false }
        return file == "_chat.txt" || file.hasPrefix("WhatsApp") || frames.contains { file.hasPrefix($0) }
    }

    /// Returns the chat's name for a folder with an extracted export, or `nil` for any other folder.
    static func chat(inFolder folder: String) -> String? {
        frames.contains { folder.hasPrefix($0) } ? chat(named: folder) : nil
    }

    /// Returns the chat's name from a file name.
    /// - Returns: `nil` for the generic name `_chat` of exports on iOS.
    static func chat(named file: String) -> String? {
        var name = Substring(file)
        // Remove the number of a repeated download, as in "Chat (1)".
        if let copy = name.firstMatch(of: /\s?\(\d+\)$/) { name = name[..<copy.range.lowerBound] }
        guard !name.hasPrefix("_chat") else { return nil }
        if let frame = frames.first(where: { name.hasPrefix($0) }) { name = name.dropFirst(frame.count) }
        return name.isEmpty ? nil : String(name)
    }
}
