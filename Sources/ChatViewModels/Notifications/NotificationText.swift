import ChatCore

/// The texts of a room's notification.
nonisolated struct NotificationText: Sendable {
    /// A message in a notification.
    struct Line: Equatable, Sendable {
        /// The sender's name.
        var sender: String
        /// The message on a single line.
        var text: String
    }

    private static let maxLines = 3
    private static let maxCharacters = 200
    let translator: Translator

    /// - Parameters:
    ///   - room: the room's name.
    ///   - isDirect: whether the room is named after the only sender there is.
    ///   - lines: the unread messages, oldest first; not empty.
    ///   - count: their number, which may exceed the lines.
    func texts(
        room: String, isDirect: Bool, lines: [Line], count: Int, showing content: NotificationPreferences.Content
    ) -> (title: String, body: String) {
        let number = translator.plural("{count} new message", "{count} new messages", count)
        switch content {
        case .nothing: return (translator("Parlance"), number)
        case .sender:
            let senders = Set(lines.map(\.sender))
            guard !isDirect, senders.count == 1, let sender = senders.first else { return (room, number) }
            return (
                room,
                translator.plural(
                    "{count} new message from {name}", "{count} new messages from {name}", count, ["name": sender])
            )
        case .senderAndText:
            let shown = lines.suffix(Self.maxLines).map { line in
                let text = Self.shortened(line.text)
                return isDirect ? text : translator("{name}: {text}", ["name": line.sender, "text": text])
            }
            return (room, ((count > shown.count ? [number] : []) + shown).joined(separator: "\n"))
        }
    }

    /// Replaces the text of an unreadable message.
    var sealedMessage: String { translator("Encrypted message") }

    /// - Parameters:
    ///   - count: the number of messages.
    ///   - rooms: the number of rooms they are in.
    func summary(count: Int, rooms: Int) -> (title: String, body: String) {
        (
            translator.plural("{count} new message", "{count} new messages", count),
            translator.plural("In {count} room", "In {count} rooms", rooms)
        )
    }

    func invitation(
        _ invitation: Invitation, showing content: NotificationPreferences.Content
    ) -> (title: String, body: String) {
        guard content > .nothing else { return (translator("Parlance"), translator("New invitation")) }
        let inviter = invitation.inviterName ?? invitation.inviter?.rawValue
        let body =
            inviter.map { translator("Invitation from {name}", ["name": $0]) } ?? translator("Invitation")
        return (invitation.title, body)
    }

    func failure(room: String, showing content: NotificationPreferences.Content) -> (title: String, body: String) {
        (content > .nothing ? room : translator("Parlance"), translator("A message was not sent"))
    }

    func verification(
        _ verification: Verification, name: String, showing content: NotificationPreferences.Content
    ) -> (title: String, body: String) {
        guard content > .nothing else { return (translator("Parlance"), translator("New verification request")) }
        guard !verification.isOwn else {
            return (translator("Confirm Another Device?"), translator("One of your devices asks to be confirmed."))
        }
        // Anyone can choose the name of someone else.
        return (name, translator("{name} wants to verify you.", ["name": verification.user.rawValue]))
    }

    private static func shortened(_ text: String) -> String {
        text.count > maxCharacters ? text.prefix(maxCharacters) + "…" : text
    }
}
