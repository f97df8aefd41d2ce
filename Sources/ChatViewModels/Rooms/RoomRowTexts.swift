public import ChatCore

extension RoomListViewModel.Row {
    /// The line below the name.
    public nonisolated func previewText(_ translator: Translator) -> String {
        switch preview {
        case .none: ""
        case .empty: translator("No messages yet")
        case .invitation(let inviter?): translator("Invitation from %s").replacing("%s", with: inviter)
        case .invitation: translator("Invitation")
        case .knock: translator("Request to join sent")
        case .draft(let text): translator("Draft:") + " " + text
        case .waiting(let text): translator("Sending: {text}", ["text": text])
        case .failed(let text): translator("Not sent: {text}", ["text": text])
        case .message(_, isOwn: true, let text) where kind != .notes: translator("You:") + " " + text
        case .message(let sender?, isOwn: false, let text): sender + ": " + text
        case .message(_, _, let text): text
        }
    }

    /// What a screen reader says of the row.
    /// - Parameter time: the time of the last activity as it is shown.
    public nonisolated func accessibleText(time: String, _ translator: Translator) -> String {
        ([name] + unreadTexts(translator) + [previewText(translator), time]).filter { !$0.isEmpty }
            .joined(separator: ", ")
    }

    private nonisolated func unreadTexts(_ translator: Translator) -> [String] {
        var texts: [String] = []
        // An invitation counts as one unread message, but there is none.
        if unreadCount > 0, !isInvitation {
            texts.append(
                mayHaveMoreUnread
                    ? translator("%d or more unread messages").replacing("%d", with: "\(unreadCount)")
                    : "\(unreadCount) " + translator.plural("unread message", "unread messages", unreadCount))
        }
        if mentionCount > 0 {
            texts.append(
                translator.plural("%d mention", "%d mentions", mentionCount)
                    .replacing("%d", with: "\(mentionCount)"))
        }
        return texts
    }
}
