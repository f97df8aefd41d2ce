/// A change of the text as it happened (HKW-30).
public struct TextEvent: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case inserted, deleted, replaced
    }

    /// The range that was replaced, in the text before.
    public let range: TextRange
    public let removed: String
    public let inserted: String
    public let origin: EditOrigin

    public var kind: Kind {
        removed.isEmpty ? .inserted : inserted.isEmpty ? .deleted : .replaced
    }
}

/// Something that lives in a composer for a while. Setting up and tearing down come in pairs, and once each.
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

/// Watches a composer. It is called while the composer handles an event and must not call it back.
public protocol ComposerObserver: ComposerPlugIn {
    func observed(_ observation: ComposerObservation, state: ComposerState)
    func textChanged(_ event: TextEvent)
}

extension ComposerObserver {
    public func textChanged(_ event: TextEvent) {}
}

/// Has a say in each change of the text by the user, before it is made (HKW-4, HKW-32).
public protocol ComposerInterceptor: ComposerPlugIn {
    func intercept(_ change: TextEdit, origin: EditOrigin, in document: ComposerDocument) -> Interception
}

/// What an interceptor says to a change.
public enum Interception: Hashable, Sendable {
    /// The next one is asked; the change is made if nobody objects.
    case allow
    /// The change is not made, and the user is told.
    case deny
    /// The change is not made: the interceptor has seen to it.
    case handled
}

/// Takes events before the composer does; there is at most one (HKW-6).
public protocol ComposerInputController: ComposerPlugIn {
    func control(_ event: ComposerEvent, in engine: ComposerEngine) -> InputControl
}

/// What an input controller makes of an event.
public enum InputControl: Sendable {
    case pass
    /// These happen instead; none for nothing.
    case replace([ComposerEvent])
}

/// Has the last word on whether a message is handed over: a command that makes no sense stays where it was written.
public protocol ComposerSendGate: Sendable {
    /// Why the message is not taken, in words for the user; nil takes it.
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
    /// Whether somebody is called while an event is handled who is not handed the engine with it.
    public var callsPlugIns: Bool {
        plugIns.policy != nil || !plugIns.observers.isEmpty || !plugIns.interceptors.isEmpty || !plugIns.inputs.isEmpty
    }

    /// Asks this gate before a new message is handed over; nil asks nobody. Edits are not asked about.
    public mutating func setSendGate(_ gate: (any ComposerSendGate)?) {
        plugIns.gate = gate
    }

    /// Adds an observer; one whose name is there already is ignored (HKW-5).
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

    /// Adds an interceptor after those that are there; one whose name is there already is ignored.
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

    /// Puts an input controller in the place of the one before; nil takes it away.
    public mutating func setInputController(_ controller: (any ComposerInputController)?) {
        plugIns.controller?.detached()
        plugIns.controller = controller
        controller?.attached(to: state)
    }
}
