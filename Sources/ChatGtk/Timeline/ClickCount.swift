/// How many presses of a button in a row belong together.
///
/// GTK 4.8's own count takes the first press of a double click that soon follows another one, elsewhere, for the end of
/// a series, and counts the second as a first one again.
struct ClickCount {
    /// The longest time between two presses, in milliseconds.
    let time: Int
    /// The farthest that two presses are from each other, in pixels.
    let distance: Int
    private var last: (x: Double, y: Double, time: UInt32, count: Int)?

    init(time: Int, distance: Int) {
        self.time = time
        self.distance = distance
    }

    /// - Parameter time: of the event, in milliseconds from any beginning, which goes round after 2^32.
    /// - Returns: 1 for a press that stands for itself, 2 for the second one of a double click, and so on.
    mutating func press(x: Double, y: Double, at time: UInt32) -> Int {
        var count = 1
        if let last, time &- last.time <= UInt32(clamping: self.time),
            max(abs(x - last.x), abs(y - last.y)) <= Double(distance)
        {
            count = last.count + 1
        }
        last = (x, y, time, count)
        return count
    }

    /// The next press stands for itself: the last one became a drag.
    mutating func reset() { last = nil }
}
