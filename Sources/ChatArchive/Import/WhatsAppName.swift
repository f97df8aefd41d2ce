/// What a chat is called by the name of its export, which WhatsApp makes in the user's language.
enum WhatsAppName {
    /// Around the chat's name, in the languages that it is seen in most.
    private static let frames = [
        "WhatsApp Chat with ", "WhatsApp Chat - ", "WhatsApp-Chat mit ", "WhatsApp Chat mit ", "Chat de WhatsApp con ",
        "Discussion WhatsApp avec ", "Chat WhatsApp con ", "Conversa do WhatsApp com ", "WhatsApp-chat met ",
        "Czat WhatsApp z ", "Чат WhatsApp с контактом ", "Чат WhatsApp с ", "WhatsApp Sohbeti - ",
        "WhatsApp-chatt med ",
    ]

    /// What a folder is called that a chat was unpacked into; nil for any other folder.
    static func chat(inFolder folder: String) -> String? {
        frames.contains { folder.hasPrefix($0) } ? chat(named: folder) : nil
    }

    /// - Returns: nil for a name that says nothing, as all exports of one system have it.
    static func chat(named file: String) -> String? {
        var name = Substring(file)
        // The second download of the same name.
        if let copy = name.firstMatch(of: /\s?\(\d+\)$/) { name = name[..<copy.range.lowerBound] }
        guard !name.hasPrefix("_chat") else { return nil }
        if let frame = frames.first(where: { name.hasPrefix($0) }) { name = name.dropFirst(frame.count) }
        return name.isEmpty ? nil : String(name)
    }
}
