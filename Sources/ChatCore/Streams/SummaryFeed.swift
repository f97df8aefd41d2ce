/// The observers of the room list, and the list published last.
public struct SummaryFeed {
    private var observers = Observers<[RoomSummary]>()
    private var newObservers = Observers<[RoomSummary]>()
    /// Observers that were added before the current read began, so that its result is new to them.
    private var due = Observers<[RoomSummary]>()
    private var lastPublished: [RoomSummary]?
    /// The rooms that may have changed since the last read.
    private var stale = RoomScope.all
    /// Increases with each change that may have made the list stale.
    public private(set) var revision = 0
    /// Whether a read is in progress.
    private var isRefreshing = false

    public init() {}

    /// Whether rooms may have changed since the last read.
    public var isStale: Bool { !stale.isEmpty }

    /// Adds an observer, which receives the list with the next read.
    public mutating func add(_ continuation: AsyncStream<[RoomSummary]>.Continuation) {
        _ = newObservers.add(continuation)
        stale = .all
    }

    public mutating func markStale(_ rooms: RoomScope) {
        guard !rooms.isEmpty else { return }
        stale.formUnion(rooms)
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
    /// - Returns: The rooms to read.
    public mutating func startReading() -> RoomScope {
        defer { stale = .only([]) }
        newObservers.move(to: &due)
        return lastPublished == nil ? .all : stale
    }

    public mutating func endRefresh() {
        isRefreshing = false
    }

    /// Ends a refresh whose read of these rooms failed. The next one reads them, too.
    public mutating func endRefresh(withoutReading rooms: RoomScope) {
        stale.formUnion(rooms)
        endRefresh()
    }

    /// Publishes what was read of these rooms. If their order is not known from that, the whole list becomes stale instead.
    public mutating func publish(_ summaries: [RoomSummary], of rooms: RoomScope) {
        guard case .only(let ids) = rooms else { return publish(summaries) }
        guard let merged = lastPublished?.replacing(ids, with: summaries) else { return stale = .all }
        publish(merged)
    }

    private mutating func publish(_ rooms: [RoomSummary]) {
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

extension [RoomSummary] {
    /// Replaces rooms of a list that is sorted by last activity.
    /// - Returns: `nil` if a room would be next to another one with the same last activity: only the store knows their
    ///   order.
    fileprivate func replacing(_ ids: Set<RoomID>, with summaries: [RoomSummary]) -> [RoomSummary]? {
        var moved = Dictionary(summaries.map { ($0.id, $0) }) { first, _ in first }
        var rooms: [RoomSummary] = []
        rooms.reserveCapacity(count + summaries.count)
        for room in self {
            if !ids.contains(room.id) {
                rooms.append(room)
            } else if let updated = moved[room.id], updated.lastActivity == room.lastActivity {
                rooms.append(updated)
                moved[room.id] = nil
            }
        }
        for room in moved.values {
            let index = rooms.partitioningIndex { $0.lastActivity <= room.lastActivity }
            if index < rooms.endIndex, rooms[index].lastActivity == room.lastActivity { return nil }
            rooms.insert(room, at: index)
        }
        return rooms
    }

    /// Returns the index of the first room that satisfies the predicate, as all later ones do.
    private func partitioningIndex(where predicate: (RoomSummary) -> Bool) -> Int {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = predicate(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}
