public import ChatCore
public import Foundation

/// Localized texts of a message's row: its caption, its tooltips and what assistive technology says.
public struct MessageText {
    /// The maximum number of names in the tooltip of read receipts.
    private static let maxReaders = 20

    let translator: Translator
    let time: @MainActor (Date) -> String
    let events: EventText
    private let fullDate: @MainActor (Date) -> String

    /// - Parameters:
    ///   - time: formats the time of day.
    ///   - fullDate: formats a date with its time.
    public init(
        _ translator: Translator, time: @escaping @MainActor (Date) -> String,
        fullDate: @escaping @MainActor (Date) -> String
    ) {
        self.translator = translator
        self.time = time
        self.fullDate = fullDate
        events = EventText(translator)
    }

    // MARK: Messages

    /// The time beside the sender's name; `nil` if the row does not show the sender.
    public func headerTime(_ message: MessageItem) -> String? {
        message.showsSender ? time(message.sentAt) : nil
    }

    /// The text in the corner of one of the user's own messages: the time at the end of a group, and what became of
    /// the message. Empty for none.
    public func caption(_ message: MessageItem) -> String {
        // Failed messages and uploads have a bar of their own.
        guard message.isOwn, message.upload == nil || message.waitsForSignIn else { return "" }
        let delivery = message.canRetry ? nil : delivery(message)
        return [delivery, message.endsGroup ? time(message.sentAt) : nil].compactMap(\.self).joined(separator: " · ")
    }

    /// The tooltip of a message.
    public func tooltip(_ message: MessageItem) -> String {
        [fullDate(message.sentAt), unreadableEdit(message), message.visibleTrust.map(trust)]
            .compactMap(\.self).joined(separator: "\n")
    }

    /// The accessible label of the row.
    public func accessibleText(_ message: MessageItem) -> String {
        let sender = message.isOwn ? translator("You") : message.senderName
        // Includes the time even if the row does not show it.
        let failure = message.pendingChange == nil ? nil : message.rejectedItem.map(reason)
        let cause = message.shownFailure.map(explanation)
        let state = ([time(message.sentAt)] + states(message) + [failure, cause].compactMap(\.self))
            .joined(separator: ", ")
        let text = placeholder(message) ?? message.accessibleText
        let content = [attachments(message.attachments), text].filter { !$0.isEmpty }.joined(separator: ". ")
        let quote = message.quote.flatMap(quoteAccessibleText).map { " " + $0 } ?? ""
        let shown = ShownReactions(message.reactions)
        let more = shown.more > 0 ? [moreReactions(shown.more)] : []
        let reactions = (shown.reactions.map { accessibleText($0) } + more).map { " " + $0 + "." }.joined()
        let read = message.readers.isEmpty ? "" : ". " + readBy(message.readers)
        return "\(sender): \(content).\(quote)\(reactions) \(state)\(read)"
    }

    private func states(_ message: MessageItem) -> [String] {
        [
            message.isEdited ? translator("Edited") : nil, unreadableEdit(message), message.visibleTrust.map(trust),
            delivery(message),
        ].compactMap(\.self)
    }

    private func delivery(_ message: MessageItem) -> String? {
        if message.delivery == .failed { return translator("Not sent") }
        guard message.isOnItsWay else { return nil }
        return message.waitsForSignIn ? translator("Waiting for sign-in") : translator("Sending…")
    }

    /// The part of the accessible label that describes the attachments.
    func attachments(_ files: [MediaReference]) -> String {
        files.map { file in
            if file.presentation == .voiceMessage { return translator("Voice Message") }
            let name = ["name": file.altText ?? file.name]
            return file.isImage ? translator("Image {name}", name) : translator("File {name}", name)
        }.joined(separator: ", ")
    }

    private func quoteAccessibleText(_ quote: MessageItem.Quote) -> String? {
        guard case .text(_, let name, _, _) = quote else { return nil }
        return translator("Reply to {name}.", ["name": name])
    }

    // MARK: Reactions

    /// Who reacted, the user first.
    public func names(_ reaction: MessageItem.Reaction) -> String {
        ((reaction.isOwn ? [translator("You")] : []) + reaction.others).joined(separator: ", ")
    }

    public func accessibleText(_ reaction: MessageItem.Reaction) -> String {
        let users = (reaction.isOwn ? [.currentUser] : []) + reaction.others.map { EventGroup.Participant.named($0) }
        let values = ["names": events.names(users), "emoji": reaction.text]
        if users == [.currentUser] { return translator("You reacted with {emoji}", values) }
        return translator.plural(
            "{names} reacted with {emoji}", "{names} reacted with {emoji}", users.count, values)
    }

    /// The accessible label of the number of reactions that are not shown.
    public func moreReactions(_ count: Int) -> String {
        translator.plural("{count} more reaction", "{count} more reactions", count)
    }

    // MARK: Read receipts

    /// The accessible label of read receipts.
    public func readBy(_ readers: [MessageItem.Reader]) -> String {
        translator("Read by {names}", ["names": events.names(readers.map { .named($0.name) })])
    }

    /// One line per reader, up to a limit.
    public func tooltip(_ readers: [MessageItem.Reader]) -> String {
        var lines = readers.prefix(Self.maxReaders).map { "\($0.name) · \(time($0.readAt))" }
        let rest = readers.count - Self.maxReaders
        if rest > 0 { lines.append(translator.plural("{count} other", "{count} others", rest)) }
        return ([translator("Read by")] + lines).joined(separator: "\n")
    }

    // MARK: Events

    /// One line per event of an expanded row.
    public func lines(_ group: EventGroup) -> String {
        group.lines.map { "\(events.sentence($0)) · \(time($0.sentAt))" }.joined(separator: "\n")
    }

    /// The accessible label of a row of events.
    public func accessibleText(_ group: EventGroup) -> String {
        let details = group.isExpanded && group.canExpand ? lines(group) : ""
        let read = group.readers.isEmpty ? "" : readBy(group.readers)
        return [events.summary(group), details, read].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    // MARK: Announcements

    /// What a screen reader says about received messages; for more than three only their number.
    public func announcement(_ messages: [MessageItem]) -> String {
        guard messages.count > 3 else {
            return messages.map { message in
                let text =
                    placeholder(message)
                    ?? message.visibleTrust.marking(String(message.displayedText), translator)
                return "\(message.senderName): \(text)"
            }.joined(separator: "\n")
        }
        return translator.plural("{count} new message", "{count} new messages", messages.count)
    }
}
