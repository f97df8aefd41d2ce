/// Those who watch the room list, and what they were told last.
public struct SummaryFeed {
    private var observers = Observers<[RoomSummary]>()
    private var newObservers = Observers<[RoomSummary]>()
    /// Those who came before the reading under way began: what it finds is no older than their coming.
    private var due = Observers<[RoomSummary]>()
    private var lastPublished: [RoomSummary]?
    /// Whether the rooms may differ from what was told.
    public private(set) var isStale = true
    /// Whether someone is at work reading them.
    private var isRefreshing = false

    public init() {}

    /// Whoever is added is told the list by the next reading.
    public mutating func add(_ continuation: AsyncStream<[RoomSummary]>.Continuation) {
        _ = newObservers.add(continuation)
        isStale = true
    }

    public mutating func markStale() {
        isStale = true
    }

    /// - Returns: whether the caller is to read the rooms, as nobody else does.
    public mutating func beginRefresh() -> Bool {
        guard isStale, !isRefreshing, !(observers.isEmpty && newObservers.isEmpty && due.isEmpty) else { return false }
        isRefreshing = true
        return true
    }

    /// From here on a change makes the list stale again.
    public mutating func startReading() {
        isStale = false
        newObservers.move(to: &due)
    }

    public mutating func endRefresh() {
        isRefreshing = false
    }

    public mutating func publish(_ rooms: [RoomSummary]) {
        if rooms != lastPublished { observers.yield(rooms) }
        due.yield(rooms)
        due.move(to: &observers)
        lastPublished = rooms
    }

    public mutating func finish() {
        observers.finish()
        newObservers.finish()
        due.finish()
    }
}
