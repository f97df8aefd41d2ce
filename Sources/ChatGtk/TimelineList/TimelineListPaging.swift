/// When to ask for more rows: near an edge that has more, and one request at a time.
nonisolated struct TimelineListPaging {
    /// How near to the last known row more are asked for, in viewports.
    static let distance = 2.0

    /// The sides on which there are rows that the source does not hold yet.
    var more: Set<TimelineListEdge> = []
    private(set) var requested: TimelineListEdge?

    /// The side to ask for now, nil if none; it counts as requested.
    /// - Parameters:
    ///   - above: pixels of known rows above the viewport.
    ///   - below: pixels of known rows below it.
    ///   - heading: negative if the user went up last. When both sides are near, that one goes first.
    mutating func request(above: Double, below: Double, page: Double, heading: Int) -> TimelineListEdge? {
        guard requested == nil, page > 0 else { return nil }
        let near = Self.distance * page
        let order: [(TimelineListEdge, Double)] =
            heading < 0 ? [(.start, above), (.end, below)] : [(.end, below), (.start, above)]
        requested = order.first { more.contains($0.0) && $0.1 < near }?.0
        return requested
    }

    mutating func finished(_ edge: TimelineListEdge, hasMore: Bool) {
        if hasMore { more.insert(edge) } else { more.remove(edge) }
        if requested == edge { requested = nil }
    }

    /// The source is another: a request that was under way no longer counts.
    mutating func reset() { requested = nil }
}
