import Foundation

/// The animation of a change of the bar's height (SLK-57).
public enum ResizeTransition: Hashable, Sendable {
    /// No animation.
    case none
    /// Ease-out, with a duration in seconds.
    case eased(Double)
    /// A damped spring with a duration in seconds, a damping ratio and an initial velocity.
    case spring(Double, damping: Double, velocity: Double)

    /// Returns the transition to use: none for the first layout or if the user disabled animations; a spring only if
    /// the bar has focus.
    public static func rule(bounces: Bool, isFocused: Bool, isFirstLayout: Bool, animationsEnabled: Bool)
        -> ResizeTransition
    {
        if isFirstLayout || !animationsEnabled { return .none }
        return bounces && isFocused ? .spring(0.65, damping: 0.7, velocity: 0.7) : .eased(0.2)
    }

    /// Returns the progress, where 1 is the final height. A spring temporarily exceeds 1.
    ///
    /// - Parameter elapsed: seconds since the start.
    /// - Returns: `nil` once the transition has ended.
    public func progress(after elapsed: Double) -> Double? {
        switch self {
        case .none: return nil
        case .eased(let duration):
            guard elapsed < duration, duration > 0 else { return nil }
            let remaining = 1 - max(0, elapsed) / duration
            return 1 - remaining * remaining * remaining
        case .spring(let duration, let damping, let velocity):
            guard elapsed < duration, duration > 0, damping > 0, damping < 1 else { return nil }
            // After its duration, the spring is within 1/1000 of the target.
            let frequency = log(1000) / (damping * duration)
            let decay = damping * frequency
            let oscillation = frequency * (1 - damping * damping).squareRoot()
            let time = max(0, elapsed)
            let swing = cos(oscillation * time) + (decay - velocity) / oscillation * sin(oscillation * time)
            return 1 - exp(-decay * time) * swing
        }
    }
}
