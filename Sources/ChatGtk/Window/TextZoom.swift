import GtkKit

/// The user's text scale, on top of the desktop's (SLK-58).
public enum TextZoom {
    public enum Step {
        case larger, smaller, normal
    }

    private static let steps = [50, 67, 80, 90, 100, 110, 125, 150, 175, 200, 250, 300]
    private static var current = 100

    /// - Parameter percent: Clamped to 50–300.
    public static func apply(percent: Int) {
        let percent = min(max(percent, 50), 300)
        guard percent != current else { return }
        current = percent
        // A percentage is relative to the desktop's font size, whose changes still apply.
        StyleSheet.setOverrides(percent == 100 ? "" : style(percent))
    }

    /// Libadwaita's heading and caption styles have absolute sizes in points.
    private static func style(_ percent: Int) -> String {
        let named: [(String, Int)] = [
            ("caption", 9), ("caption-heading", 9), ("body", 11), ("heading", 11), ("title-4", 13), ("title-3", 15),
            ("title-2", 15), ("title-1", 20), ("large-title", 24),
        ]
        let rules = named.map { ".\($0) { font-size: \(Double($1 * percent) / 100)pt; }" }
        return (["window { font-size: \(percent)%; }"] + rules).joined(separator: "\n")
    }

    /// Changes the text scale by a step, and stores it.
    static func apply(_ step: Step, _ settings: Settings?) {
        let percent = Self.percent(after: step)
        apply(percent: percent)
        settings?.set("text-zoom", percent)
    }

    /// Returns the scale after a step, in percent.
    public static func percent(after step: Step) -> Int {
        switch step {
        case .larger: steps.first { $0 > current } ?? current
        case .smaller: steps.last { $0 < current } ?? current
        case .normal: 100
        }
    }
}
