/// How long a sound or a film is, as players tell it.
enum DurationText {
    /// - Parameter milliseconds: 0 or more.
    static func text(_ milliseconds: Int) -> String {
        let seconds = max(0, milliseconds) / 1000
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = seconds / 60 % 60
        return seconds < 3600
            ? "\(minutes):\(two(seconds % 60))" : "\(seconds / 3600):\(two(minutes)):\(two(seconds % 60))"
    }
}
