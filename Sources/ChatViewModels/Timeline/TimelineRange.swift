/// What is known about the range of messages in memory.
public nonisolated struct TimelineRange: Equatable, Sendable {
    public nonisolated enum Loading: Equatable, Sendable {
        case page(TimelineEdge)
        case jump(TimelineDestination)
    }

    public internal(set) var isLoaded = false
    /// Whether the room has no messages.
    public internal(set) var isEmpty = false
    public internal(set) var hasOlder = false
    /// Whether newer messages exist beyond the loaded ones.
    public internal(set) var isDetached = false
    /// The request in flight; at most one at a time.
    public internal(set) var loading: Loading?

    /// Whether a jump elsewhere is in flight, during which the end of the timeline may scroll by unread.
    var isBeingLeft: Bool {
        if case .jump(let destination) = loading { destination != .newest } else { false }
    }
}
