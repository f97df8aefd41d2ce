extension TimelineViewModel {
    /// Everything but the rows, whose changes are reported as effects, and the members: whoever holds a state would have
    /// all of them copied with the next change of one.
    public nonisolated struct State: Equatable, Sendable {
        public internal(set) var range = TimelineRange()
        /// The messages selected for copying, forwarding or deletion.
        public internal(set) var selection = SelectedMessages()
        /// The number of the user's messages that failed to send.
        public internal(set) var failedCount = 0
        /// Whether the room was left or no longer exists.
        public internal(set) var isClosed = false

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
