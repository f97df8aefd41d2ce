/// The viewport at the last layout.
struct TimelineListViewport {
    /// In pixels; 0 before the first layout.
    var width = 0
    var height = 0.0
    /// The width for which the rows were measured, in pixels.
    var rowWidth = 0
    /// The content outside the viewport, in pixels.
    var extent = ThumbSteadiness.Extent(above: 0, below: 0)
}
