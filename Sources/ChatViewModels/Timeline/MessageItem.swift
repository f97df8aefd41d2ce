public import ChatCore
public import Composer
public import Foundation

/// A message with all that its row shows.
public nonisolated struct MessageItem: Identifiable, Equatable, Sendable {
    /// One reaction, and who gave it.
    public nonisolated struct Reaction: Equatable, Sendable {
        public var text: String
        /// Names in the order in which they gave it; "You" is not among them.
        public var others: [String]
        /// Whether the user gave it.
        public var isOwn: Bool

        public var count: Int { others.count + (isOwn ? 1 : 0) }
    }

    /// A member who has read up to here.
    public nonisolated struct Reader: Equatable, Sendable {
        public var id: MemberID
        public var name: String
        public var readAt: Date
        /// Where the member's picture is; nil without one.
        public var avatar: String?
    }

    /// The message that another one answers, in short.
    public nonisolated enum Quote: Equatable, Sendable {
        case loading(MessageID)
        /// The text's first line, at most ``quotedCharacters`` of it.
        case text(MessageID, senderName: String, text: WrittenText)
        /// Deleted, or not to be had.
        case unavailable
    }

    public let id: MessageID
    public var text: String
    /// What ``displayedText`` says, parsed.
    public var body = MessageBody()
    public var senderID: MemberID
    public var senderName: String
    /// Where the sender's picture is; nil without one.
    public var senderAvatar: String?
    public var sentAt: Date
    public var isOwn: Bool
    public var isEdited: Bool
    public var isDeleted: Bool
    public var delivery: Message.Delivery
    /// Of one's own messages as far as it is known here.
    public var transactionID: TransactionID?
    /// What the message answers.
    public var quote: Quote?
    /// The files that belong to it.
    public var attachments: [MediaReference] = []
    public var reactions: [Reaction] = []
    /// Those who have read this and nothing after it, the latest first; at most ``Message/maxReadReceipts``.
    public var readers: [Reader] = []
    /// Whether the backend takes reactions.
    public var supportsReactions = false
    /// Whether there are links that lead to messages.
    public var hasLink = false
    /// Whether what the message said before can be seen.
    public var hasHistory = false
    /// How much of its files is uploaded, from 0 to 1; nil if there is nothing to upload.
    public var upload: Double?
    /// What the user did to it and the backend has not carried out.
    public var pendingChange: PendingChange?
    /// Whether it is on its way and gets no farther until the user has signed in again.
    public var waitsForSignIn = false
    /// The first of a run of messages of one sender: shows the sender.
    public var startsGroup: Bool
    /// The last of such a run: shows the time.
    public var endsGroup: Bool
    /// Whether the composer is editing this message now.
    public var isBeingEdited: Bool
    /// Whether it is among those that something is to be done with together.
    public var isSelected = false

    /// The most of a text that a row shows: laying out a megabyte would stop the window for seconds.
    public static let maxDisplayedCharacters = 8_000
    public static let maxDisplayedLines = 200
    /// The most blocks of a body that came as HTML: each takes a widget. With more, the text alone is shown.
    public static let maxDisplayedBlocks = 400
    public static let quotedCharacters = 120

    /// The beginning of the text, as much as a row shows.
    public var displayedText: Substring { Self.displayedText(of: text) }

    static func displayedText(of text: String) -> Substring {
        // In most messages there is nothing to count.
        if text.utf8.count <= maxDisplayedLines { return text[...] }
        var end =
            text.index(text.startIndex, offsetBy: maxDisplayedCharacters, limitedBy: text.endIndex) ?? text.endIndex
        var lines = 1
        for index in text[..<end].indices where text[index].isNewline {
            lines += 1
            if lines > maxDisplayedLines {
                end = index
                break
            }
        }
        return text[..<end]
    }

    /// What assistive technology reads: spoilers stay covered.
    public var accessibleText: String {
        body.isEmote ? "\(senderName) \(body.plainText(.covered))" : body.plainText(.covered)
    }

    /// Whether ``displayedText`` is not all of it.
    public var isShortened: Bool { displayedText.endIndex < text.endIndex }

    public var canEdit: Bool { isOwn && !isDeleted && delivery == .sent }
    public var canDelete: Bool { isOwn && !isDeleted }
    /// Whether it was given up and can be sent again.
    public var canRetry: Bool { isOwn && !isDeleted && delivery == .failed && transactionID != nil }
    /// What was refused and waits for the user.
    public nonisolated enum RejectedItem: Equatable, Sendable {
        case message
        case change(PendingChange.Kind)
    }

    public var rejectedItem: RejectedItem? {
        if canRetry { return .message }
        return pendingChange.flatMap { $0.isRejected ? .change($0.kind) : nil }
    }

    /// Whether the message, or what became of it, is on its way.
    public var isOnItsWay: Bool {
        delivery == .sending || pendingChange.map { !$0.isRejected && $0.kind != .reaction } ?? false
    }

    public var canCopy: Bool { !isDeleted }
    public var canReply: Bool { !isDeleted && delivery == .sent }
    public var canReact: Bool { supportsReactions && !isDeleted && delivery == .sent }
    public var canSelect: Bool { !isDeleted && delivery == .sent }
    public var canCopyLink: Bool { hasLink && !isDeleted && delivery == .sent }
    public var canForward: Bool { !isDeleted && delivery == .sent }
    /// Whether the room's name or a neighbour already tells who speaks.
    public var showsSender: Bool { startsGroup && !isOwn }
}
