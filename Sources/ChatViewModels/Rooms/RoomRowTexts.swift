public import ChatCore

extension RoomListViewModel.Row {
    /// The line below the name.
    public nonisolated func previewText(_ translator: Translator) -> String {
        switch preview {
        case .none: ""
        case .empty: translator("No messages yet")
        case .sealed: translator("Encrypted message")
        case .invitation(let inviter?): translator("Invitation from {name}", ["name": inviter])
        case .invitation: translator("Invitation")
        case .knock: translator("Join request sent")
        case .account(let name): name
        case .draft(let text): translator("Draft: {text}", ["text": text])
        case .waiting(let text): translator("Sending: {text}", ["text": text])
        case .failed(let text): translator("Not sent: {text}", ["text": text])
        case .message(_, isOwn: true, let text, let trust) where kind != .notes:
            translator("You: {text}", ["text": trust.marking(text, translator)])
        case .message(let sender?, isOwn: false, let text, let trust):
            translator("{name}: {text}", ["name": sender, "text": trust.marking(text, translator)])
        case .message(_, _, let text, let trust): trust.marking(text, translator)
        }
    }

    /// The accessible label of the row.
    /// - Parameters:
    ///   - time: the displayed time of the last activity.
    ///   - isInView: as in ``badge(isInView:)``.
    public nonisolated func accessibleText(time: String, isInView: Bool, _ translator: Translator) -> String {
        ([name] + (isMuted ? [translator("muted")] : []) + unreadTexts(isInView: isInView, translator)
            + [previewText(translator), time])
            .filter { !$0.isEmpty }
            .joined(separator: ", ")
    }

    private nonisolated func unreadTexts(isInView: Bool, _ translator: Translator) -> [String] {
        var texts: [String] = []
        // An invitation counts as one unread message, but there is none.
        if unreadCount > 0, !isInvitation, !isInView {
            texts.append(
                mayHaveMoreUnread
                    ? translator.plural(
                        "{count} or more unread messages", "{count} or more unread messages", unreadCount)
                    : translator.plural("{count} unread message", "{count} unread messages", unreadCount))
        }
        if isMarkedUnread { texts.append(translator("marked as unread")) }
        if mentionCount > 0, !isInView {
            texts.append(translator.plural("{count} mention", "{count} mentions", mentionCount))
        }
        return texts
    }
}
