import ChatCore

/// Counts consecutive presses of a button.
///
/// GtkGestureClick of GTK 4.8 miscounts a double click that soon follows a press elsewhere: its first press ends the
/// previous series, and the second one counts as 1 again.
struct ClickCount {
    /// The maximum time between two presses, in milliseconds.
    let time: Int
    /// The maximum distance between two presses, in pixels.
    let distance: Int
    private var last: (x: Double, y: Double, time: UInt32, target: MessageID?, count: Int)?

    init(time: Int, distance: Int) {
        self.time = time
        self.distance = distance
    }

    /// - Parameters:
    ///   - time: The event time in milliseconds, which wraps around at 2^32.
    ///   - target: The message there; messages that arrive may have scrolled another one there since the last press.
    /// - Returns: 1 for a single press, 2 for the second press of a double click, and so on.
    mutating func press(x: Double, y: Double, at time: UInt32, on target: MessageID? = nil) -> Int {
        var count = 1
        if let last, target == last.target, time &- last.time <= UInt32(clamping: self.time),
            max(abs(x - last.x), abs(y - last.y)) <= Double(distance)
        {
            count = last.count + 1
        }
        last = (x, y, time, target, count)
        return count
    }

    /// Starts a new series, after the last press became a drag.
    mutating func reset() { last = nil }
}
