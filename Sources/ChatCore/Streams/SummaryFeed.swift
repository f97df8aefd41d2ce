/// The observers of the room list, and the list published last.
public struct SummaryFeed {
    private var observers = Observers<[RoomSummary]>()
    private var newObservers = Observers<[RoomSummary]>()
    /// Observers that were added before the current read began, so that its result is new to them.
    private var due = Observers<[RoomSummary]>()
    private var lastPublished: [RoomSummary]?
    /// Whether the rooms may have changed since the last read.
    public private(set) var isStale = true
    /// Increases with each change that may have made the list stale.
    public private(set) var revision = 0
    /// Whether a read is in progress.
    private var isRefreshing = false

    public init() {}

    /// Adds an observer, which receives the list with the next read.
    public mutating func add(_ continuation: AsyncStream<[RoomSummary]>.Continuation) {
        _ = newObservers.add(continuation)
        isStale = true
    }

    public mutating func markStale() {
        isStale = true
        revision += 1
    }

    /// Publishes a change of one room without a read.
    /// - Parameter since: the revision before the change was made.
    /// - Returns: Whether it was published. It is not if the list has to be read anyway, or if a read may have missed the
    ///   change.
    public mutating func update(_ room: RoomID, since: Int, _ change: (inout RoomSummary) -> Void) -> Bool {
        guard revision == since, !isStale, !isRefreshing, var rooms = lastPublished,
            let index = rooms.firstIndex(where: { $0.id == room })
        else { return false }
        change(&rooms[index])
        publish(rooms)
        return true
    }

    /// Returns whether the caller has to read the rooms now.
    public mutating func beginRefresh() -> Bool {
        guard isStale, !isRefreshing, !(observers.isEmpty && newObservers.isEmpty && due.isEmpty) else { return false }
        isRefreshing = true
        return true
    }

    /// Marks the start of a read: later changes make the list stale again.
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
