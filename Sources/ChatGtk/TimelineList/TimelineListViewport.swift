/// What the last layout found out about the viewport.
struct TimelineListViewport {
    /// In pixels; 0 before the first layout.
    var width = 0
    var height = 0.0
    /// The width that rows were measured for, in pixels.
    var rowWidth = 0
    /// What lies outside, in pixels.
    var extent = ThumbSteadiness.Extent(above: 0, below: 0)
}

/// What was last told to whoever listens.
struct TimelineListNotifiedState {
    var visible: Range<Int>?
    var below: Double?
    var isAtEnd = true
}
