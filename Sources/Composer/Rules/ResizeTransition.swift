import Foundation

/// How the bar goes from one height to another (SLK-57).
public enum ResizeTransition: Hashable, Sendable {
    /// At once.
    case none
    /// Eased, in seconds.
    case eased(Double)
    /// A damped spring, in seconds, with its damping ratio and initial velocity.
    case spring(Double, damping: Double, velocity: Double)

    /// The first layout is never animated, nothing is where the user turned animations off, and only a bar
    /// that is written in bounces.
    public static func rule(bounces: Bool, isFocused: Bool, isFirstLayout: Bool, animationsEnabled: Bool)
        -> ResizeTransition
    {
        if isFirstLayout || !animationsEnabled { return .none }
        return bounces && isFocused ? .spring(0.65, damping: 0.7, velocity: 0.7) : .eased(0.2)
    }

    /// How much of the way has been gone, 1 being the end; a spring goes beyond it for a while.
    ///
    /// - Parameter elapsed: seconds since the beginning.
    /// - Returns: nil once the end is reached for good.
    public func progress(after elapsed: Double) -> Double? {
        switch self {
        case .none: return nil
        case .eased(let duration):
            guard elapsed < duration, duration > 0 else { return nil }
            let remaining = 1 - max(0, elapsed) / duration
            return 1 - remaining * remaining * remaining
        case .spring(let duration, let damping, let velocity):
            guard elapsed < duration, duration > 0, damping > 0, damping < 1 else { return nil }
            // At the end of its time it is within a thousandth of where it goes.
            let frequency = log(1000) / (damping * duration)
            let decay = damping * frequency
            let oscillation = frequency * (1 - damping * damping).squareRoot()
            let time = max(0, elapsed)
            let swing = cos(oscillation * time) + (decay - velocity) / oscillation * sin(oscillation * time)
            return 1 - exp(-decay * time) * swing
        }
    }
}
