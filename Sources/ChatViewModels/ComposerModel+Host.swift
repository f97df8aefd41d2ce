public import Composer

/// What a host may do beside sending events: plug-ins, transforms, and changes that nobody hears of. A plug-in may ask the
/// model and send it events: it sees what was before the change that it is called about, and its events come after that.
extension ComposerModel {
    // MARK: Observers

    /// Adds an observer behind those that are there; one whose name is there already is ignored (HKW-5).
    public func add(observer: any ComposerObserver) {
        change { $0.add(observer: observer) }
    }

    /// Removes the observer with this name, if there is one.
    public func removeObserver(named name: String) {
        change { $0.removeObserver(named: name) }
    }

    /// Tells closures what happens, until ``removeObserver(named:)``: each change of the text as it was made and by whom
    /// (HKW-30), and all else that observers are told.
    public func observe(
        as name: String, _ observed: @escaping @MainActor (ComposerObservation, ComposerState) -> Void = { _, _ in },
        textChanged: @escaping @MainActor (TextEvent) -> Void = { _ in }
    ) {
        add(observer: ClosureObserver(name: name, onObservation: observed, changed: textChanged))
    }

    // MARK: Interceptors

    /// Adds an interceptor after those that are there; one whose name is there already is ignored (HKW-4).
    public func add(interceptor: any ComposerInterceptor) {
        change { $0.add(interceptor: interceptor) }
    }

    /// Removes the interceptor with this name, if there is one.
    public func removeInterceptor(named name: String) {
        change { $0.removeInterceptor(named: name) }
    }

    /// Has a closure say whether a change by the user is made, until ``removeInterceptor(named:)`` (HKW-32).
    public func intercept(
        as name: String, _ body: @escaping @MainActor (TextEdit, EditOrigin, ComposerDocument) -> Interception
    ) {
        add(interceptor: ClosureInterceptor(name: name, body: body))
    }

    // MARK: What is pasted, dropped and chosen

    /// Adds a plug-in behind those that are there; one whose name is there already is ignored (MIB-22). It is asked before
    /// the tray takes a file.
    public func add(inputPlugIn: any ComposerInputPlugIn) {
        change { $0.add(inputPlugIn: inputPlugIn) }
    }

    /// Removes the input plug-in with this name, if there is one.
    public func removeInputPlugIn(named name: String) {
        change { $0.removeInputPlugIn(named: name) }
    }

    /// Has every input plug-in show again what it holds, in order.
    public func reloadInputPlugIns() {
        change { $0.reloadInputPlugIns() }
    }

    /// Has every input plug-in forget what it holds, in order.
    public func invalidateInputPlugIns() {
        change { $0.invalidateInputPlugIns() }
    }

    // MARK: Policies

    /// Puts an input controller in the place of the one before; nil takes it away (HKW-6).
    public func setInputController(_ controller: (any ComposerInputController)?) {
        change { $0.setInputController(controller) }
    }

    /// Puts a policy of completion in the place of the one before; nil asks nobody (MIB-32).
    public func setCompletionPolicy(_ policy: (any CompletionPolicy)?) {
        change { $0.setCompletionPolicy(policy) }
    }

    // MARK: Changes by code

    /// Puts what `body` makes of a range's text in its place, as one undo step; nil deletes it (HKW-8). Without a range it
    /// is the selection's (HKW-9). The caret stays where its characters are.
    public func transform(_ range: TextRange? = nil, _ body: @escaping (String) -> String?) {
        withEngine { $0.transform(range, at: $1, body) }
    }

    /// Until the matching ``resumeObservation()`` observers and interceptors hear of nothing, the rules for typing rest and
    /// nobody is told that the user is typing. May be nested (HKW-33).
    public func suspendObservation() {
        change { $0.suspendObservation() }
    }

    /// Ends what ``suspendObservation()`` began; the outermost end tells observers what is different, as one change by code.
    public func resumeObservation() {
        withEngine { $0.resumeObservation(at: $1) }
    }

    /// Refuses the next deletion of a single character by the user, once, and reports it (HKW-33).
    public func ignoreNextSingleDeletion() {
        change { $0.ignoreNextSingleDeletion() }
    }

    private func change(_ body: @escaping (inout ComposerEngine) -> Void) {
        withEngine { engine, _ in
            body(&engine)
            return []
        }
    }
}

/// A model's engine is on the main actor, and so is whoever it calls.
private nonisolated struct ClosureObserver: ComposerObserver {
    let name: String
    let onObservation: @MainActor (ComposerObservation, ComposerState) -> Void
    let changed: @MainActor (TextEvent) -> Void

    func observed(_ observation: ComposerObservation, state: ComposerState) {
        MainActor.assumeIsolated { onObservation(observation, state) }
    }

    func textChanged(_ event: TextEvent) { MainActor.assumeIsolated { changed(event) } }
}

private nonisolated struct ClosureInterceptor: ComposerInterceptor {
    let name: String
    let body: @MainActor (TextEdit, EditOrigin, ComposerDocument) -> Interception

    func intercept(_ change: TextEdit, origin: EditOrigin, in document: ComposerDocument) -> Interception {
        MainActor.assumeIsolated { body(change, origin, document) }
    }
}
