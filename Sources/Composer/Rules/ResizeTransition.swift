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
}
