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
            /// The user is asked in; `by` whom is nil where that is not known.
            case invitation(by: String?)
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
            unreadCount == 0 ? nil : unreadCount > 99 ? "99+" : String(unreadCount)
        }
        public var isInvitation: Bool { if case .invitation = preview { true } else { false } }
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
    /// - Parameter line: what its last message says, without marks.
    init(_ summary: RoomSummary, saying line: String?, now: Date) {
        self.init(
            id: summary.id, name: summary.room.name, kind: summary.room.kind, preview: Self.preview(of: summary, line),
            lastActivity: summary.lastActivity, day: RelativeDay(summary.lastActivity, now: now),
            unreadCount: summary.unreadCount, mentionCount: summary.mentionCount,
            avatar: summary.room.avatar, address: summary.room.address)
    }

    init(_ invitation: Invitation, now: Date) {
        self.init(
            id: invitation.room, name: invitation.title, kind: invitation.isDirect ? .direct : .group,
            preview: .invitation(by: invitation.inviterName ?? invitation.inviter?.rawValue),
            lastActivity: invitation.receivedAt, day: RelativeDay(invitation.receivedAt, now: now), unreadCount: 1,
            avatar: invitation.avatar)
    }

    private static func preview(of summary: RoomSummary, _ line: String?) -> Preview {
        if let draft = summary.draftPreview.map(singleLine), draft.contains(where: { !$0.isWhitespace }) {
            return .draft(draft)
        }
        guard let last = summary.lastMessage else { return .empty }
        let sender = last.isOwn || summary.room.kind != .group ? nil : last.senderName
        return .message(sender: sender, isOwn: last.isOwn, text: line ?? "")
    }

    private static func singleLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
