public import ChatCore

extension TimelineViewModel {
    /// Everything but the rows, whose changes are reported as effects.
    public nonisolated struct State: Equatable, Sendable {
        /// All known members, including those who have left (``Member/hasLeft``).
        public internal(set) var members: [Member] = []
        public internal(set) var range = TimelineRange()
        /// The messages selected for copying, forwarding or deletion.
        public internal(set) var selection = SelectedMessages()
        /// The number of the user's messages that failed to send.
        public internal(set) var failedCount = 0
        /// Whether the room was left or no longer exists.
        public internal(set) var isClosed = false

        /// The joined members other than the user.
        public var otherMembers: [Member] { members.filter(\.isOther) }
        /// Whether a bar offers to resend all failed messages. A single one has buttons in its row.
        public var showsRetryBar: Bool { failedCount > 1 }
        public var isLoaded: Bool { range.isLoaded }
        /// Whether the room has no messages.
        public var isEmpty: Bool { range.isEmpty }
        public var hasOlder: Bool { range.hasOlder }
        /// See ``TimelineRange/isDetached``.
        public var isDetached: Bool { range.isDetached }
        public var loading: TimelineRange.Loading? { range.loading }
    }
}
