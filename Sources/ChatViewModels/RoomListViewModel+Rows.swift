public import ChatCore
public import Foundation

extension RoomListViewModel {
    public nonisolated struct Row: Identifiable, Equatable, Sendable {
        public nonisolated enum Preview: Equatable, Sendable {
            case none
            /// Nothing was said yet.
            case empty
            case draft(String)
            /// `sender` is nil for one's own messages and where the sender goes without saying.
            case message(sender: String?, isOwn: Bool, text: String)
            /// One's own, on its way.
            case waiting(String)
            /// One's own, which was given up.
            case failed(String)
            /// The user is asked in; `by` whom is nil where that is not known.
            case invitation(by: String?)
            /// The user asked to be let in, and waits.
            case knock
        }

        public let id: RoomID
        public var name: String
        public var kind: Room.Kind
        public var preview: Preview
        public var lastActivity: Date
        public var day: RelativeDay
        public var unreadCount: Int
        /// How many of the unread messages are meant for the user.
        public var mentionCount = 0
        /// Whether there may be more of either than is counted.
        public var mayHaveMoreUnread = false
        /// Where the room's picture is; nil without one.
        public var avatar: String?
        /// Under which others find the room; nil without one.
        public var address: String?

        /// The text of the badge of mentions; nil for none.
        public var mentionLabel: String? {
            mentionCount == 0 ? nil : mentionCount == 1 ? "@" : mentionCount > 99 ? "@ 99+" : "@ \(mentionCount)"
        }
        /// The text of the unread badge; nil for none. From 100 on the number says no more.
        public var unreadLabel: String? {
            unreadCount == 0
                ? nil : unreadCount > 99 ? "99+" : mayHaveMoreUnread ? "\(unreadCount)+" : String(unreadCount)
        }
        public var isInvitation: Bool {
            switch preview {
            case .invitation, .knock: true
            default: false
            }
        }
    }

    /// Rows that belong together in the list.
    public nonisolated struct Section: Equatable, Sendable {
        public nonisolated enum Kind: String, CaseIterable, Sendable {
            /// What waits for an answer.
            case invitations
            /// Conversations for two.
            case direct
            case rooms
        }

        public var kind: Kind
        public var rows: [Row]
    }
}

extension RoomListViewModel.State {
    /// The rows as they are listed, in those sections that have any.
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
    ///   - line: what its last message says, without marks.
    ///   - isOpen: whether its composer is in view.
    init(_ summary: RoomSummary, saying line: String?, isOpen: Bool, now: Date) {
        self.init(
            id: summary.id, name: summary.room.name, kind: summary.room.kind,
            preview: Self.preview(of: summary, line, isOpen),
            lastActivity: summary.lastActivity, day: RelativeDay(summary.lastActivity, now: now),
            unreadCount: summary.unreadCount, mentionCount: summary.mentionCount,
            mayHaveMoreUnread: summary.mayHaveMoreUnread, avatar: summary.room.avatar, address: summary.room.address)
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
        let sender = last.isOwn || summary.room.kind != .group ? nil : last.senderName
        return .message(sender: sender, isOwn: last.isOwn, text: line ?? "")
    }

    private static func singleLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
