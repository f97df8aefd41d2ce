/// Decides when to request more rows: near an edge that has more, one request at a time.
nonisolated struct TimelineListPaging {
    /// The distance from an edge at which to request more rows, in viewport heights.
    static let distance = 2.0
    /// The same while the user scrolls. Of a wheel that turns fast, two viewports last a third of a second, which reading
    /// and laying out a page may take. At rest, a room that opens would load a second page at once.
    static let movingDistance = 5.0

    /// The edges at which the source can load more rows.
    var more: Set<TimelineListEdge> = []
    private(set) var requested: TimelineListEdge?

    /// Returns the edge to request now and marks it as requested, or returns `nil`.
    /// - Parameters:
    ///   - above: The loaded content above the viewport, in pixels.
    ///   - below: The loaded content below the viewport, in pixels.
    ///   - page: The viewport's height, in pixels.
    ///   - heading: The scroll direction, negative for up. It decides if both edges are near.
    ///   - isMoving: Whether the user is scrolling.
    mutating func request(
        above: Double, below: Double, page: Double, heading: Int, isMoving: Bool
    ) -> TimelineListEdge? {
        guard requested == nil, page > 0 else { return nil }
        let near = (isMoving ? Self.movingDistance : Self.distance) * page
        let order: [(TimelineListEdge, Double)] =
            heading < 0 ? [(.start, above), (.end, below)] : [(.end, below), (.start, above)]
        requested = order.first { more.contains($0.0) && $0.1 < near }?.0
        return requested
    }

    mutating func finished(_ edge: TimelineListEdge, hasMore: Bool) {
        if hasMore { more.insert(edge) } else { more.remove(edge) }
        if requested == edge { requested = nil }
    }

    /// Forgets the pending request, after the source was reset.
    mutating func reset() { requested = nil }
}
