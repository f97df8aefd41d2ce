public import GtkKit

/// The two ends of a ``TimelineList``.
nonisolated public enum TimelineListEdge: Sendable {
    /// The top, where the first row is.
    case start
    /// The bottom, where the last row is.
    case end
}

/// Where a row shall be after scrolling to it.
nonisolated public enum TimelineListPlacement: Sendable {
    /// Its top edge at the viewport's top.
    case start
    case center
    /// Its bottom edge at the viewport's bottom.
    case end
    /// Moved no farther than needed for it to be in view.
    case nearest
}

/// What a ``TimelineList`` shows, in terms that stay true when rows come and go.
public enum TimelineListPosition: Equatable {
    /// The last row is at the viewport's bottom.
    case end
    /// The row's bottom edge is so many pixels below the viewport's bottom edge; above it if negative.
    case row(AnyHashable, below: Double)
}

/// A row under a point.
public struct TimelineListHit {
    public var index: Int
    public var key: AnyHashable
    public var row: any TimelineListRow
    /// From the row's top, in pixels. Outside of the row's height if the point is above or below all rows.
    public var y: Double
}
