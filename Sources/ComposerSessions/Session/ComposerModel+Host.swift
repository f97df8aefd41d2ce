public import Composer

/// Extension points for hosts: plug-ins, transforms and silent changes. A plug-in may query the model and send it
/// events from its callbacks: it sees the state before the change it is called for, and its events are handled after
/// that change.
extension ComposerModel {
    // MARK: Observers

    /// Adds an observer after the existing ones; ignored if one has the same name (HKW-5).
    public func add(observer: any ComposerObserver) {
        change { $0.add(observer: observer) }
    }

    /// Removes the observer with this name, if any.
    public func removeObserver(named name: String) {
        change { $0.removeObserver(named: name) }
    }

    /// Calls closures for each change of the text, with its origin (HKW-30), and for all other observations, until
    /// ``removeObserver(named:)`` is called.
    public func observe(
        as name: String, _ observed: @escaping @MainActor (ComposerObservation, ComposerState) -> Void = { _, _ in },
        textChanged: @escaping @MainActor (TextEvent) -> Void = { _ in }
    ) {
        add(observer: ClosureObserver(name: name, onObservation: observed, changed: textChanged))
    }

    // MARK: Interceptors

    /// Adds an interceptor after the existing ones; ignored if one has the same name (HKW-4).
    public func add(interceptor: any ComposerInterceptor) {
        change { $0.add(interceptor: interceptor) }
    }

    /// Removes the interceptor with this name, if any.
    public func removeInterceptor(named name: String) {
        change { $0.removeInterceptor(named: name) }
    }

    /// Lets a closure decide whether a change by the user is made, until ``removeInterceptor(named:)`` is called
    /// (HKW-32).
    public func intercept(
        as name: String, _ body: @escaping @MainActor (TextEdit, EditOrigin, ComposerDocument) -> Interception
    ) {
        add(interceptor: ClosureInterceptor(name: name, body: body))
    }

    // MARK: Input plug-ins

    /// Adds an input plug-in after the existing ones; ignored if one has the same name (MIB-22). Plug-ins are offered a
    /// file before the tray takes it.
    public func add(inputPlugIn: any ComposerInputPlugIn) {
        change { $0.add(inputPlugIn: inputPlugIn) }
    }

    /// Removes the input plug-in with this name, if any.
    public func removeInputPlugIn(named name: String) {
        change { $0.removeInputPlugIn(named: name) }
    }

    /// Asks every input plug-in, in order, to display its content again.
    public func reloadInputPlugIns() {
        change { $0.reloadInputPlugIns() }
    }

    /// Asks every input plug-in, in order, to discard its content.
    public func invalidateInputPlugIns() {
        change { $0.invalidateInputPlugIns() }
    }

    // MARK: Policies

    /// Sets the input controller, replacing any earlier one; `nil` removes it (HKW-6).
    public func setInputController(_ controller: (any ComposerInputController)?) {
        change { $0.setInputController(controller) }
    }

    /// Sets the completion policy, replacing any earlier one; `nil` removes it (MIB-32).
    public func setCompletionPolicy(_ policy: (any CompletionPolicy)?) {
        change { $0.setCompletionPolicy(policy) }
    }

    // MARK: Programmatic changes

    /// Replaces the text of a range, or of the selection if `range` is `nil` (HKW-9), with the result of `body`, as one
    /// undo step; a `nil` result deletes it (HKW-8). The caret stays with the characters around it.
    public func transform(_ range: TextRange? = nil, _ body: @escaping (String) -> String?) {
        withEngine { $0.transform(range, at: $1, body) }
    }

    /// Suspends observers, interceptors, typing rules and typing notifications until the matching
    /// ``resumeObservation()``. Calls may be nested (HKW-33).
    public func suspendObservation() {
        change { $0.suspendObservation() }
    }

    /// Ends ``suspendObservation()``; the outermost call reports all changes to observers as one programmatic change.
    public func resumeObservation() {
        withEngine { $0.resumeObservation(at: $1) }
    }

    /// Rejects the user's next deletion of a single character, once, and reports it (HKW-33).
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

/// An observer made of closures. A model's engine runs on the main actor, and so do its callbacks.
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
