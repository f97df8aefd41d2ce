public import ChatCore
public import Composer
public import Foundation

/// A message with everything else that its row displays. The members of its ``message`` are members of it too.
@dynamicMemberLookup
public nonisolated struct MessageItem: Identifiable, Equatable, Sendable {
    /// A reaction and who added it.
    public nonisolated struct Reaction: Equatable, Sendable {
        public var text: String
        /// The names of the other members who added it, oldest first, without the user.
        public var others: [String]
        /// Whether the user added it.
        public var isOwn: Bool

        public var count: Int { others.count + (isOwn ? 1 : 0) }
    }

    /// A member whose read receipt points at this message.
    public nonisolated struct Reader: Equatable, Sendable {
        public var id: MemberID
        public var name: String
        public var readAt: Date
        /// The avatar URI, or `nil` if there is none.
        public var avatar: String?
    }

    /// An excerpt of the message being replied to.
    public nonisolated enum Quote: Equatable, Sendable {
        case loading(MessageID)
        /// The first line of the text, at most ``quotedCharacters`` characters, and the warning about its message.
        case text(MessageID, senderName: String, text: WrittenText, trust: MessageTrust? = nil)
        /// The message was deleted or could not be found.
        case unavailable

        /// The message being replied to, or `nil` if it is unavailable.
        public var message: MessageID? {
            switch self {
            case .loading(let id), .text(let id, _, _, _): id
            case .unavailable: nil
            }
        }
    }

    public var message: Message
    /// The parsed ``displayedText``.
    public var body = MessageBody()
    public var senderName: String
    /// The sender's avatar URI, or `nil` if there is none.
    public var senderAvatar: String?
    public var isOwn: Bool
    /// The message being replied to.
    public var quote: Quote?
    /// The reactions with the names of who added them.
    public var reactions: [Reaction] = []
    /// Members whose latest read receipt is at this message, most recent first; at most ``Message/maxReadReceipts``.
    public var readers: [Reader] = []
    /// Whether the backend supports reactions.
    public var supportsReactions = false
    /// Whether the backend supports links to messages.
    public var hasLink = false
    /// Whether earlier versions of the message can be shown.
    public var hasHistory = false
    /// Whether it is pending and blocked until the user signs in again.
    public var waitsForSignIn = false
    /// Whether messages can be sent to the room. Otherwise there is no composer for a reply or an edit.
    public var acceptsMessages = true
    /// Whether it is the first of consecutive messages by one sender, and shows the sender, with the time, if it is not
    /// the user's own.
    public var startsGroup: Bool
    /// Whether it is the last of consecutive messages by one sender, and shows the time if it is the user's own.
    public var endsGroup: Bool
    /// Whether the composer is editing this message.
    public var isBeingEdited = false
    /// Whether it is selected for a bulk action.
    public var isSelected = false

    public var id: MessageID { message.id }

    public subscript<Value>(dynamicMember member: KeyPath<Message, Value>) -> Value { message[keyPath: member] }

    public subscript<Value>(dynamicMember member: WritableKeyPath<Message, Value>) -> Value {
        get { message[keyPath: member] }
        set { message[keyPath: member] = newValue }
    }

    /// The maximum number of characters a row displays: laying out a megabyte of text blocks the main loop for seconds.
    public static let maxDisplayedCharacters = 8_000
    public static let maxDisplayedLines = 200
    /// The maximum number of blocks displayed of an HTML body, since each takes a widget. Beyond it, only the text is
    /// shown.
    public static let maxDisplayedBlocks = 400
    public static let quotedCharacters = 120

    /// The part of the text that a row displays.
    public var displayedText: Substring { Self.displayedText(of: message.text) }

    static func displayedText(of text: String) -> Substring {
        // Bytes bound characters and are much faster to go through, as each layout and each binding of a row does.
        if text.utf8.count <= maxDisplayedCharacters, text.maxLines <= maxDisplayedLines { return text[...] }
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

    /// The text for screen readers; spoilers stay hidden.
    public var accessibleText: String {
        body.isEmote ? "\(senderName) \(body.plainText(.covered))" : body.plainText(.covered)
    }

    /// Whether ``displayedText`` is truncated.
    public var isShortened: Bool { displayedText.endIndex < message.text.endIndex }

    public var isEdited: Bool { message.editedAt != nil && !message.isDeleted }
    /// Why a later version of the message cannot be read; `nil` if the latest one is shown.
    public var unreadableEdit: SealReason? { message.hasContent ? message.unreadableEdit : nil }
    public var canEdit: Bool { isOwn && isReadable && acceptsMessages }
    public var canDelete: Bool { isOwn && !message.isDeleted }
    /// Whether sending failed and can be retried.
    public var canRetry: Bool { canDelete && message.delivery == .failed && message.transactionID != nil }
    /// What the server rejected, awaiting the user's decision.
    public nonisolated enum RejectedItem: Equatable, Sendable {
        case message
        case change(PendingChange.Kind)
    }

    public var rejectedItem: RejectedItem? {
        if canRetry { return .message }
        return message.pendingChange.flatMap { $0.isRejected ? .change($0.kind) : nil }
    }

    /// Why the ``rejectedItem`` was not sent; `nil` if that is all that is known.
    public var shownFailure: SendFailure? {
        switch rejectedItem {
        case nil: nil
        case .message: message.failure
        case .change: message.pendingChange?.failure
        }
    }

    /// Whether the message, or an edit or deletion of it, is pending.
    public var isOnItsWay: Bool {
        message.delivery == .sending || message.pendingChange.map { !$0.isRejected && $0.kind != .reaction } ?? false
    }

    /// Whether there is text to copy: copying a picture without a caption would empty the clipboard.
    public var canCopy: Bool { message.hasContent && !message.text.isEmpty }
    public var canReply: Bool { isReadable && acceptsMessages }
    func hasOwnReaction(_ text: String) -> Bool { reactions.contains { $0.text == text && $0.isOwn } }
    public var canReact: Bool { supportsReactions && isReadable }
    public var canSelect: Bool { isReadable }
    public var canCopyLink: Bool { hasLink && isSent }
    public var canForward: Bool { isReadable }
    /// The link that gets a preview. A text that was not sent may yet be sent encrypted: the server must not learn it.
    public var previewedLink: BodyLink? {
        guard isSent, !isSealed else { return nil }
        if let change = message.pendingChange, !change.isRejected {
            // A later reaction hides an edit that is pending, too.
            guard change.kind == .reaction, message.editedAt == nil || !isOwn else { return nil }
        }
        return body.previewedLink
    }
    private var isSent: Bool { !message.isDeleted && message.delivery == .sent }
    /// Whether it is encrypted and unreadable, so that its text must not be used.
    public var isSealed: Bool { message.kind == .sealed }
    private var isReadable: Bool { message.hasContent && message.delivery == .sent }
    /// Whether the row shows the sender's name.
    public var showsSender: Bool { startsGroup && !isOwn }
}

nonisolated extension String {
    /// The number of lines, or more: each byte of CR LF counts as a line break.
    fileprivate var maxLines: Int {
        var (lines, previous) = (1, UInt8(0))
        for byte in utf8 {
            switch byte {
            case 0x0A...0x0D: lines += 1
            // U+0085 is C2 85, U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
            case 0x85 where previous == 0xC2, 0xA8...0xA9 where previous == 0x80: lines += 1
            default: break
            }
            previous = byte
        }
        return lines
    }
}
