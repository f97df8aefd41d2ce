import GtkKit

/// The two ends of a ``TimelineList``.
nonisolated public enum TimelineListEdge: Sendable {
    /// The top, where the first row is.
    case start
    /// The bottom, where the last row is.
    case end
}

/// Where a row ends up after scrolling to it.
nonisolated public enum TimelineListPlacement: Sendable {
    /// Its top edge at the viewport's top.
    case start
    case center
    /// Its bottom edge at the viewport's bottom.
    case end
    /// The shortest scroll that brings it into view.
    case nearest
}

/// A scroll position that stays valid when rows are inserted and removed.
public enum TimelineListPosition: Equatable {
    /// The last row's bottom edge at the viewport's bottom.
    case end
    /// A row's bottom edge, in pixels below the viewport's bottom edge; negative if above it.
    case row(AnyHashable, below: Double)
}

/// The result of a hit test.
public struct TimelineListHit {
    public var index: Int
    public var key: AnyHashable
    public var row: any TimelineListRow
    /// The distance from the row's top, in pixels. Outside the row's height if the point is above or below all rows.
    public var y: Double
}
