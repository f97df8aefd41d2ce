public import Composer

/// An action of a host: an event or a direct call.
public enum FuzzStep: Sendable {
    case event(ComposerEvent)
    /// Replaces the text of a range; `nil` deletes it.
    case transform(TextRange, to: String?)
    case append(String)
    case reconfigure(ComposerConfiguration)
    /// Suspends or resumes observation.
    case ignore(Bool)
    case ignoreDeletion

    /// Performs the step and returns its effects.
    public func apply(to engine: inout ComposerEngine, at time: Duration) -> [ComposerEffect] {
        switch self {
        case .event(let event): return engine.handle(event, at: time)
        case .transform(let range, let text): return engine.transform(range, at: time) { _ in text }
        case .append(let text): return engine.append(text, at: time)
        case .reconfigure(let configuration): return engine.reconfigure(configuration)
        case .ignore(true): engine.suspendObservation()
        case .ignore(false): return engine.resumeObservation(at: time)
        case .ignoreDeletion: engine.ignoreNextSingleDeletion()
        }
        return []
    }
}
