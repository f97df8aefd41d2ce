/// A change of the text (HKW-30).
public struct TextEvent: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case inserted, deleted, replaced
    }

    /// The replaced range, in the text before the change.
    public let range: TextRange
    public let removed: String
    public let inserted: String
    public let origin: EditOrigin

    public var kind: Kind {
        removed.isEmpty ? .inserted : inserted.isEmpty ? .deleted : .replaced
    }
}

/// A plug-in of a composer. `attached(to:)` and `detached()` are called in pairs, once each.
public protocol ComposerPlugIn: Sendable {
    /// Unique among the plug-ins of its kind.
    var name: String { get }
    func attached(to state: ComposerState)
    func detached()
}

extension ComposerPlugIn {
    public func attached(to state: ComposerState) {}
    public func detached() {}
}

/// Observes a composer. Called while the composer handles an event; must not call back into it.
public protocol ComposerObserver: ComposerPlugIn {
    func observed(_ observation: ComposerObservation, state: ComposerState)
    func textChanged(_ event: TextEvent)
}

extension ComposerObserver {
    public func textChanged(_ event: TextEvent) {}
}

/// Vets each change of the text by the user before it is applied (HKW-4, HKW-32).
public protocol ComposerInterceptor: ComposerPlugIn {
    func intercept(_ change: TextEdit, origin: EditOrigin, in document: ComposerDocument) -> Interception
}

/// The decision of an interceptor.
public enum Interception: Hashable, Sendable {
    /// Ask the next interceptor; the change is applied if none objects.
    case allow
    /// Reject the change and notify the user.
    case deny
    /// Drop the change, as the interceptor has handled it.
    case handled
}

/// Handles events before the composer does; a composer has at most one (HKW-6).
public protocol ComposerInputController: ComposerPlugIn {
    func control(_ event: ComposerEvent, in engine: ComposerEngine) -> InputControl
}

/// The decision of an input controller.
public enum InputControl: Sendable {
    case pass
    /// Handle these events instead; an empty list drops the event.
    case replace([ComposerEvent])
}

/// Checks a message before it is sent, so that an invalid command stays in the composer.
public protocol ComposerSendGate: Sendable {
    /// Returns the reason to refuse the message, shown to the user, or `nil` to send it.
    func rejectionReason(of message: ComposedMessage) -> String?
}

struct PlugInList: Sendable {
    var gate: (any ComposerSendGate)?
    var policy: (any CompletionPolicy)?
    var observers: [any ComposerObserver] = []
    var interceptors: [any ComposerInterceptor] = []
    var inputs: [any ComposerInputPlugIn] = []
    var controller: (any ComposerInputController)?
}

extension ComposerEngine {
    /// Whether there are plug-ins that are called during events without access to the engine.
    public var callsPlugIns: Bool {
        plugIns.policy != nil || !plugIns.observers.isEmpty || !plugIns.interceptors.isEmpty || !plugIns.inputs.isEmpty
    }

    /// Sets the gate that checks new messages before sending; `nil` removes it. Doesn't apply to edits.
    public mutating func setSendGate(_ gate: (any ComposerSendGate)?) {
        plugIns.gate = gate
    }

    /// Adds an observer; ignored if there is one with the same name (HKW-5).
    public mutating func add(observer: any ComposerObserver) {
        guard !plugIns.observers.contains(where: { $0.name == observer.name }) else { return }
        plugIns.observers.append(observer)
        observer.attached(to: state)
    }

    /// Removes the observer with this name, if there is one.
    public mutating func removeObserver(named name: String) {
        guard let index = plugIns.observers.firstIndex(where: { $0.name == name }) else { return }
        plugIns.observers.remove(at: index).detached()
    }

    /// Appends an interceptor; ignored if there is one with the same name.
    public mutating func add(interceptor: any ComposerInterceptor) {
        guard !plugIns.interceptors.contains(where: { $0.name == interceptor.name }) else { return }
        plugIns.interceptors.append(interceptor)
        interceptor.attached(to: state)
    }

    /// Removes the interceptor with this name, if there is one.
    public mutating func removeInterceptor(named name: String) {
        guard let index = plugIns.interceptors.firstIndex(where: { $0.name == name }) else { return }
        plugIns.interceptors.remove(at: index).detached()
    }

    /// Sets the input controller, replacing the previous one; `nil` removes it.
    public mutating func setInputController(_ controller: (any ComposerInputController)?) {
        plugIns.controller?.detached()
        plugIns.controller = controller
        controller?.attached(to: state)
    }
}
