public import ChatCore
public import Foundation

/// Localized texts of a message's row: its caption, its tooltips and what assistive technology says.
public struct MessageText {
    /// How many lines the tooltip of read receipts has.
    private static let maxReaders = 20

    private let translator: Translator
    private let time: @MainActor (Date) -> String
    private let events: EventText

    /// - Parameter time: formats the time of day.
    public init(_ translator: Translator, time: @escaping @MainActor (Date) -> String) {
        self.translator = translator
        self.time = time
        events = EventText(translator)
    }

    // MARK: Messages

    /// The line below a message: the time at the end of a group, and what became of it. Empty for none.
    public func caption(_ message: MessageItem) -> String {
        // Failed messages and uploads have a bar of their own.
        guard message.upload == nil || message.waitsForSignIn else { return "" }
        let states = message.canRetry ? [] : states(message)
        return ((message.endsGroup ? [time(message.sentAt)] : []) + states).joined(separator: " · ")
    }

    /// The accessible label of the row.
    public func accessibleText(_ message: MessageItem) -> String {
        let sender = message.isOwn ? translator("You") : message.senderName
        // Includes the time even if the row does not show it.
        let failure = message.pendingChange == nil ? nil : message.rejectedItem.map(failure)
        let state = ([time(message.sentAt)] + states(message) + [failure].compactMap(\.self)).joined(separator: ", ")
        let text = message.isDeleted ? translator("Message deleted") : message.accessibleText
        let content = [attachments(message.attachments), text].filter { !$0.isEmpty }.joined(separator: ". ")
        let quote = message.quote.flatMap(quoteAccessibleText).map { " " + $0 } ?? ""
        let reactions = message.reactions.map { " " + accessibleText($0) + "." }.joined()
        let read = message.readers.isEmpty ? "" : ". " + readBy(message.readers)
        return "\(sender): \(content).\(quote)\(reactions) \(state)\(read)"
    }

    private func states(_ message: MessageItem) -> [String] {
        var components: [String] = []
        if message.isEdited { components.append(translator("Edited")) }
        if message.isOnItsWay {
            components.append(
                message.waitsForSignIn ? translator("Waiting for sign-in") : translator("Sending…"))
        }
        if message.delivery == .failed { components.append(translator("Not sent")) }
        return components
    }

    /// What the server rejected.
    public func failure(_ item: MessageItem.RejectedItem) -> String {
        switch item {
        case .message: translator("Not sent")
        case .change(.edit): translator("Could not save edit")
        case .change(.deletion): translator("Could not delete message")
        case .change(.reaction): translator("Could not change reaction")
        }
    }

    /// The part of the accessible label that describes the attachments.
    func attachments(_ files: [MediaReference]) -> String {
        files.map { file in
            if file.presentation == .voiceMessage { return translator("Voice Message") }
            let kind = file.isImage ? translator("Image") : translator("File")
            return "\(kind) \(file.altText ?? file.name)"
        }.joined(separator: ", ")
    }

    private func quoteAccessibleText(_ quote: MessageItem.Quote) -> String? {
        guard case .text(_, let name, _) = quote else { return nil }
        // Translators: %s is the name of who wrote the message that is answered.
        return translator("Reply to %s.").replacing("%s", with: name)
    }

    // MARK: Reactions

    /// Who reacted, the user first.
    public func names(_ reaction: MessageItem.Reaction) -> String {
        ((reaction.isOwn ? [translator("You")] : []) + reaction.others).joined(separator: ", ")
    }

    public func accessibleText(_ reaction: MessageItem.Reaction) -> String {
        // Translators: %1 is an emoji, %2 are the names of those who reacted with it.
        translator("%1 by %2").replacing("%1", with: reaction.text).replacing("%2", with: names(reaction))
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

    /// The summary of a row of events.
    public func summary(_ group: EventGroup) -> String { events.summary(group) }

    // MARK: Announcements

    /// What a screen reader says about received messages; for more than three only their number.
    public func announcement(_ messages: [MessageItem]) -> String {
        guard messages.count > 3 else {
            return messages.map { "\($0.senderName): \($0.displayedText)" }.joined(separator: "\n")
        }
        return translator.plural("%d new message", "%d new messages", messages.count)
            .replacing("%d", with: String(messages.count))
    }
}
