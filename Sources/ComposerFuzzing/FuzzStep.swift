public import Composer

/// Something that a host does to a composer: hands an event on, or calls it.
public enum FuzzStep: Sendable {
    case event(ComposerEvent)
    /// Puts a text in the place of a range's, or deletes it.
    case transform(TextRange, to: String?)
    case append(String)
    case reconfigure(ComposerConfiguration)
    /// Begins or ends ignoring.
    case ignore(Bool)
    case ignoreDeletion

    /// - Returns: the effects.
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
