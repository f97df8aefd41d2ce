public import ChatCore
public import Foundation

extension RoomListViewModel {
    public nonisolated struct Row: Identifiable, Equatable, Sendable {
        public nonisolated enum Preview: Equatable, Sendable {
            case none
            /// The room has no messages.
            case empty
            case draft(String)
            /// `sender` is `nil` for the user's own messages and in rooms that are not groups; `trust`, without a
            /// warning.
            case message(sender: String?, isOwn: Bool, text: String, trust: MessageTrust? = nil)
            /// An unreadable encrypted message.
            case sealed
            /// The user's last message, which is pending.
            case waiting(String)
            /// The user's last message, which failed to send.
            case failed(String)
            /// An invitation; `by` is the inviter, if known.
            case invitation(by: String?)
            /// A knock that is still pending.
            case knock
            /// The name of the account, where rooms of several accounts are listed.
            case account(String)
        }

        public let id: RoomID
        public var name: String
        public var kind: Room.Kind
        public var preview: Preview
        public var lastActivity: Date
        public var day: RelativeDay
        public var unreadCount: Int
        /// The number of unread messages that mention the user.
        public var mentionCount = 0
        /// Whether the counts are lower bounds.
        public var mayHaveMoreUnread = false
        /// Whether the user has marked the room as unread.
        public var isMarkedUnread = false
        /// Whether nothing in the room notifies.
        public var isMuted = false
        /// Whether the user's last message failed to send, which a draft can hide from the preview.
        public var hasFailed = false
        /// The avatar URI, or `nil` if there is none.
        public var avatar: String?
        /// The canonical alias, or `nil` if there is none.
        public var address: String?

        /// The mention badge's text, or `nil` if it is hidden.
        public var mentionLabel: String? {
            mentionCount == 0 ? nil : mentionCount == 1 ? "@" : mentionCount > 99 ? "@ 99+" : "@ \(mentionCount)"
        }
        /// The unread badge's text, or `nil` if it is hidden; capped at `99+`.
        public var unreadLabel: String? {
            unreadCount == 0
                ? nil : unreadCount > 99 ? "99+" : mayHaveMoreUnread ? "\(unreadCount)+" : String(unreadCount)
        }
        /// Whether the room has unread messages or is marked as unread.
        public var isUnread: Bool { unreadCount > 0 || isMarkedUnread }
        /// The room's share of the total unread count, where a mark counts as one message.
        var unreadTotal: Int { isMarkedUnread ? max(1, unreadCount) : unreadCount }
        public var isInvitation: Bool {
            switch preview {
            case .invitation, .knock: true
            default: false
            }
        }
    }

    /// A titled group of rows.
    public nonisolated struct Section: Equatable, Sendable {
        public nonisolated enum Kind: String, CaseIterable, Sendable {
            /// Invitations and knocks.
            case invitations
            /// Direct chats.
            case direct
            case rooms
        }

        public var kind: Kind
        public var rows: [Row]
    }
}

extension RoomListViewModel.State {
    /// The non-empty sections, in display order.
    public nonisolated var sections: [RoomListViewModel.Section] {
        RoomListViewModel.Section.Kind.allCases.compactMap { kind in
            let found: [RoomListViewModel.Row] =
                switch kind {
                case .invitations: invitationRows
                case .direct: rows.filter { $0.kind == .direct }
                case .rooms: rows.filter { $0.kind != .direct }
                }
            return found.isEmpty ? nil : RoomListViewModel.Section(kind: kind, rows: found)
        }
    }
}

nonisolated extension RoomListViewModel.Row {
    /// - Parameters:
    ///   - line: the plain text of the last message.
    ///   - isOpen: whether the room is open; its draft is then not shown.
    init(_ summary: RoomSummary, saying line: String?, isOpen: Bool, now: Date) {
        self.init(
            id: summary.id, name: summary.room.name, kind: summary.room.kind,
            preview: Self.preview(of: summary, line, isOpen),
            lastActivity: summary.lastActivity, day: RelativeDay(summary.lastActivity, now: now),
            unreadCount: summary.unreadCount, mentionCount: summary.mentionCount,
            mayHaveMoreUnread: summary.mayHaveMoreUnread, isMarkedUnread: summary.isMarkedUnread,
            isMuted: summary.isMuted, hasFailed: summary.lastMessage?.delivery == .failed,
            avatar: summary.room.avatar, address: summary.room.address)
    }

    init(_ invitation: Invitation, now: Date) {
        self.init(
            id: invitation.room, name: invitation.title, kind: invitation.isDirect ? .direct : .group,
            preview: invitation.isKnock
                ? .knock : .invitation(by: invitation.inviterName ?? invitation.inviter?.rawValue),
            lastActivity: invitation.receivedAt, day: RelativeDay(invitation.receivedAt, now: now),
            unreadCount: invitation.isKnock ? 0 : 1,
            avatar: invitation.avatar)
    }

    private static func preview(of summary: RoomSummary, _ line: String?, _ isOpen: Bool) -> Preview {
        if !isOpen, let draft = summary.draftPreview.map(singleLine), draft.contains(where: { !$0.isWhitespace }) {
            return .draft(draft)
        }
        guard let last = summary.lastMessage else { return .empty }
        switch last.delivery {
        case .sent: break
        case .sending: return .waiting(line ?? "")
        case .failed: return .failed(line ?? "")
        }
        if last.isSealed { return .sealed }
        let sender = last.isOwn || summary.room.kind != .group ? nil : last.senderName
        return .message(sender: sender, isOwn: last.isOwn, text: line ?? "", trust: last.trust)
    }

    private static func singleLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
