/// Formats the duration of audio and video as media players do.
enum DurationText {
    /// - Parameter milliseconds: Negative values count as 0.
    static func text(_ milliseconds: Int) -> String {
        let seconds = max(0, milliseconds) / 1000
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = seconds / 60 % 60
        return seconds < 3600
            ? "\(minutes):\(two(seconds % 60))" : "\(seconds / 3600):\(two(minutes)):\(two(seconds % 60))"
    }
}
