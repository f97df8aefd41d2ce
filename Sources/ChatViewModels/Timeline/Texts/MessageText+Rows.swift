public import ChatCore
public import Composer

/// Texts that depend on the state of a row or of a bar.
extension MessageText {
    // MARK: Messages

    /// Stands for the text of a deleted message.
    public var deletedMessage: String { translator("Message deleted") }

    /// The text in place of a deleted or unreadable message; `nil` for others.
    public func placeholder(_ message: MessageItem) -> String? {
        if message.isDeleted { return deletedMessage }
        return message.isSealed ? reason(message.seal ?? .damaged) : nil
    }

    /// Says that a later version of a message cannot be read, and why; `nil` if the latest one is shown.
    public func unreadableEdit(_ message: MessageItem) -> String? {
        message.unreadableEdit.map { translator("A later edit is missing. {reason}", ["reason": reason($0)]) }
    }

    /// Why an encrypted message cannot be read.
    func reason(_ seal: SealReason) -> String {
        switch seal {
        case .noKey: translator("The key for this message has not arrived yet.")
        case .beforeSignIn: translator("Sent before you signed in here.")
        case .beforeKey: translator("Sent before this device got the key.")
        case .beforeMembership: translator("Sent before you were in this room.")
        case .unconfirmedDevice: translator("Its sender shares keys only with confirmed devices.")
        case .withheld: translator("Its sender does not share the key with this device.")
        case .repeated: translator("Hidden: it repeats another message.")
        case .otherSender: translator("Hidden: it was not encrypted by its sender.")
        case .unknownSender: translator("Checking who sent this message…")
        case .unconfirmedSender: translator("Hidden: its owner has not confirmed the device it was sent from.")
        case .unknownAlgorithm: translator("Encrypted in a way Parlance does not support.")
        case .damaged: translator("This message is damaged.")
        case .keysLocked: translator("Unlock the keyring to read this.")
        case .keysUnavailable: translator("Encryption is not available in this account.")
        case .notBuilt: translator("Encrypted. This version of Parlance was built without encryption.")
        case .notFetched: translator("Encrypted message, not loaded yet.")
        }
    }

    /// The title of a code block.
    public func title(ofCodeIn language: String?) -> String { language ?? translator("Code") }

    /// The title of the window with the full text of a message.
    public func windowTitle(_ message: MessageItem) -> String {
        message.isOwn ? translator("Your Message") : message.senderName
    }

    /// The message being replied to, as the reply shows it.
    public nonisolated struct Quote: Equatable, Sendable {
        public let senderName: String?
        public let text: WrittenText
    }

    public func quote(_ quote: MessageItem.Quote) -> Quote {
        switch quote {
        case .loading: Quote(senderName: nil, text: WrittenText(translator("Loading…"), syntax: .plain))
        case .unavailable:
            Quote(senderName: nil, text: WrittenText(translator("Message not available"), syntax: .plain))
        case .text(_, let name, let text, let trust):
            Quote(senderName: name, text: trust.marking(text, translator))
        }
    }

    // MARK: Failures

    /// What the server rejected, and what the user can do about it.
    public nonisolated struct Failure: Equatable, Sendable {
        public let reason: String
        public let retry: String
        public let discard: String
        /// Why the server rejected it, or why it was not given to the server; `nil` if that is not known.
        public var explanation: String?
    }

    /// - Parameter cause: ``MessageItem/shownFailure``.
    public func failure(_ item: MessageItem.RejectedItem, because cause: SendFailure? = nil) -> Failure {
        // Discarding a message deletes what was written, so it is confirmed first.
        Failure(
            reason: reason(item), retry: translator("Retry"),
            discard: item == .message ? translator("Discard…") : translator("Discard"),
            explanation: cause.map(explanation))
    }

    func explanation(_ failure: SendFailure) -> String {
        switch failure {
        case .changedIdentity:
            translator("The identity of someone you verified has changed. Verify or accept the new one first.")
        case .ownIdentityReplaced:
            translator("Your account has a new identity, which has not confirmed this device.")
        case .notPermitted: translator("You do not have permission to do this")
        case .termsNotAccepted: translator("The terms of the server have to be accepted first")
        case .notInRoom: translator("You are no longer in this room")
        case .notFound: translator("No longer available")
        case .messageUnavailable: translator("Message not available")
        case .messageTooLong: translator("Message too long")
        case .tooLarge: translator("Too large for the server")
        case .unreadableFile: translator("Could not read file")
        case .encryptionUnavailable: translator("Encryption does not work on this device")
        case .encryptionUnknown: translator("It is not known how to encrypt messages in this room")
        case .mayBeSent: translator("It may have been sent already")
        case .rejected(let reason): translator("Not allowed by the server: {reason}", ["reason": reason])
        }
    }

    func reason(_ item: MessageItem.RejectedItem) -> String {
        switch item {
        case .message: translator("Not sent")
        case .change(.edit): translator("Could not save edit")
        case .change(.deletion): translator("Could not delete message")
        case .change(.reaction): translator("Could not change reaction")
        }
    }

    // MARK: Bars

    /// How many messages failed.
    public func failedCount(_ count: Int) -> String {
        translator.plural("{count} message not sent", "{count} messages not sent", count)
    }

    /// How many messages are selected.
    public func selectedCount(_ count: Int) -> String {
        translator.plural("{count} selected", "{count} selected", count)
    }

    // MARK: Events

    /// A row of events.
    public nonisolated struct Events: Equatable, Sendable {
        /// A single line, which may be too long for the row.
        public let title: String
        public let tooltip: String
        /// One line for each event; empty unless the row is expanded.
        public let lines: String
        /// The label of the button that opens the room's successor or predecessor; `nil` if there is none.
        public let openRoom: String?
        public let accessibleText: String
    }

    public func events(_ group: EventGroup) -> Events {
        let isExpanded = group.isExpanded && group.canExpand
        return Events(
            title: title(group), tooltip: group.canExpand ? events.summary(group) : lines(group),
            lines: isExpanded ? lines(group) : "",
            openRoom: group.address == nil
                ? nil : group.isReplaced ? translator("Go to New Room") : translator("Go to Earlier Room"),
            accessibleText: accessibleText(group))
    }

    /// The change itself, if there is only one in effect.
    private func title(_ group: EventGroup) -> String {
        group.segments.count == 1
            ? events.summary(group)
            : translator.plural("{count} room change", "{count} room changes", group.lines.count)
    }
}
