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
    /// Handle the event, and then these, as undo steps of their own. If the event doesn't change the text, such as when
    /// the limit rejects it, these are dropped.
    case append([ComposerEvent])
}

/// Checks a message before it is sent, so that an invalid command stays in the composer.
public protocol ComposerSendGate: Sendable {
    /// Returns the reason for rejecting the message, shown to the user, or `nil` to send it.
    func rejectionReason(of message: ComposedMessage) -> String?
}

/// The plug-ins of a composer, and whether they are currently called.
struct PlugIns: Sendable {
    var suspension = ObservationSuspension()
    var gate: (any ComposerSendGate)?
    private var observers: [any ComposerObserver] = []
    private var interceptors: [any ComposerInterceptor] = []
    private var inputs: [any ComposerInputPlugIn] = []
    private var controller: (any ComposerInputController)?

    /// Whether there are plug-ins that are called during events without access to the engine.
    var areCalled: Bool { !observers.isEmpty || !interceptors.isEmpty || !inputs.isEmpty }
    var hasInputs: Bool { !inputs.isEmpty }
    /// Whether changes are reported to observers.
    var areObserving: Bool { !observers.isEmpty && !suspension.isActive }

    // MARK: Adding and removing

    /// - Returns: whether it was added, which requires that no other of its kind has its name (HKW-5).
    mutating func add(_ observer: any ComposerObserver) -> Bool { Self.add(observer, to: &observers) { $0.name } }
    mutating func add(_ interceptor: any ComposerInterceptor) -> Bool {
        Self.add(interceptor, to: &interceptors) { $0.name }
    }
    mutating func add(_ input: any ComposerInputPlugIn) -> Bool { Self.add(input, to: &inputs) { $0.name } }

    mutating func removeObserver(named name: String) {
        Self.remove(from: &observers) { $0.name == name }?.detached()
    }

    mutating func removeInterceptor(named name: String) {
        Self.remove(from: &interceptors) { $0.name == name }?.detached()
    }

    mutating func removeInput(named name: String) {
        Self.remove(from: &inputs) { $0.name == name }?.detached()
    }

    mutating func setController(_ controller: (any ComposerInputController)?) {
        self.controller?.detached()
        self.controller = controller
    }

    private static func add<PlugIn>(_ plugIn: PlugIn, to list: inout [PlugIn], name: (PlugIn) -> String) -> Bool {
        let isNew = !list.contains { name($0) == name(plugIn) }
        if isNew { list.append(plugIn) }
        return isNew
    }

    private static func remove<PlugIn>(from list: inout [PlugIn], where isNamed: (PlugIn) -> Bool) -> PlugIn? {
        list.firstIndex(where: isNamed).map { list.remove(at: $0) }
    }

    // MARK: Calling

    /// What the input controller turns an event into; its replacements aren't passed to it again (HKW-6).
    func control(_ event: ComposerEvent, in engine: @autoclosure () -> ComposerEngine) -> InputControl {
        controller.map { $0.control(event, in: engine()) } ?? .pass
    }

    /// Asks the interceptors, unless observation is suspended (HKW-4).
    ///
    /// - Returns: whether all of them allow the change. Reports a denial.
    func allow(
        _ change: TextEdit, origin: EditOrigin, in document: ComposerDocument, _ transaction: inout EventTransaction
    ) -> Bool {
        guard !suspension.isActive else { return true }
        for interceptor in interceptors {
            switch interceptor.intercept(change, origin: origin, in: document) {
            case .allow: continue
            case .deny:
                transaction.reject(.denied(by: interceptor.name))
                return false
            case .handled: return false
            }
        }
        return true
    }

    /// Passes all offers to each input plug-in in order, until one handles an offer (MIB-22).
    func handle(_ offers: [PasteOffer], state: @autoclosure () -> ComposerState) -> Bool {
        guard !inputs.isEmpty, !suspension.isActive else { return false }
        let state = state()
        return inputs.contains { plugIn in offers.contains { plugIn.handle($0, state: state) } }
    }

    func reloadInputs() { inputs.forEach { $0.reload() } }
    func invalidateInputs() { inputs.forEach { $0.invalidate() } }

    /// Notifies the observers of an event.
    func notify(_ report: EventTransaction.Report, state: @autoclosure () -> ComposerState) {
        guard !observers.isEmpty, !report.observations.isEmpty || !report.textEvents.isEmpty else { return }
        let state = state()
        for observer in observers {
            for event in report.textEvents { observer.textChanged(event) }
            for observation in report.observations { observer.observed(observation, state: state) }
        }
    }
}
