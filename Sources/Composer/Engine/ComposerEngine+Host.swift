public import Foundation

/// What a host calls besides ``ComposerEngine/handle(_:at:)``.
extension ComposerEngine {
    /// Whether the message with this identifier awaits the host's response.
    public func isPending(_ id: String) -> Bool { sender.outbox.pendingEntry(id) != nil }

    /// The first line of the message being edited as it was before the edit; `nil` for a new message. O(n) if a draft
    /// of an earlier version did not store it.
    package var originalLine: WrittenText? { message.originalLine }

    // MARK: Changes by code

    /// Replaces the text of a range with the result of `body`, as one undo step (HKW-8).
    ///
    /// - Parameters:
    ///   - range: clamped to the text, without effect if it starts beyond the text; `nil` for the selection.
    ///   - now: the current time.
    ///   - body: returns the new text, or `nil` to delete the range.
    /// - Returns: the effects. A selection outside the range stays on its characters; one inside keeps its offset
    ///   from the start of the range, limited to the new text.
    public mutating func transform(
        _ range: TextRange? = nil, at now: Duration, _ body: (String) -> String?
    ) -> [ComposerEffect] {
        let due = advance(to: now)
        return due
            + performTransaction { engine in
                let range = range ?? engine.selection
                guard range.location >= 0, range.location <= engine.document.length else { return }
                engine.message.editor.transform(engine.document.aligned(range), body)
            }
    }

    /// Appends text at the end, undoably, regardless of the selection (SLK-34).
    public mutating func append(_ text: String, at now: Duration) -> [ComposerEffect] {
        handle(.edit(.caret(document.length), replacement: text, origin: .code), at: now)
    }

    /// Whether what is typed at an offset becomes Markdown code, also in a span that is not closed yet.
    package func writesCode(at offset: Int) -> Bool {
        TypingRules(configuration: configuration, document: document).writesCode(at: offset)
    }

    /// Returns a sent message that awaits the host's response, or `nil` if none does under this identifier.
    package func pendingMessage(_ id: String) -> ComposedMessage? {
        sender.outbox.pendingEntry(id)?.message(trimmed: configuration.trimsSentText)
    }

    /// The sources and thumbnails of all files that the composer holds, also for undo and redo: O(n) in the number of
    /// undo steps. The host must not delete them.
    public var fileSources: Set<String> { message.fileSources.union(sender.outbox.fileSources) }

    // MARK: Drafts

    /// Returns the current state as a draft, without the input method's preedit text.
    public func makeDraft() -> ComposerDraft { ComposerDraft(of: message, sender.outbox, storing: nil) }

    /// Returns the draft to save together with the message that has this identifier. Other messages that await the
    /// host's response count as unsent, so that a crash between two messages loses neither.
    public func makeDraft(storing id: String) -> ComposerDraft {
        ComposerDraft(of: message, sender.outbox, storing: id)
    }

    /// Restores a draft into an unused composer, without undo steps but those that return to half-done edits. Rejects
    /// the draft if the composer has content (SLK-39).
    public mutating func restore(_ draft: ComposerDraft) -> [ComposerEffect] {
        performTransaction { $0.sender.restore(draft, in: &$0.message) }
    }

    /// Decodes and restores a draft. Reports invalid data and leaves the composer unchanged.
    ///
    /// - Parameter target: see ``ComposerDraft/decode(_:target:)``.
    public mutating func restore(
        encoded data: Data, target: (_ entityID: String, _ text: String) -> MentionTarget? = { _, _ in nil }
    ) -> [ComposerEffect] {
        do throws(DraftError) {
            return restore(try ComposerDraft.decode(data, target: target))
        } catch {
            return performTransaction { $0.message.editor.transaction.reject(.draft(error)) }
        }
    }

    /// Decodes a draft that could not be read in time, and puts it before what was written meanwhile, as one undo step.
    /// Reports invalid data and leaves the composer unchanged.
    ///
    /// - Parameter target: see ``ComposerDraft/decode(_:target:)``.
    package mutating func putBefore(
        encoded data: Data, at now: Duration, target: (_ entityID: String, _ text: String) -> MentionTarget?
    ) -> [ComposerEffect] {
        let due = advance(to: now)
        do throws(DraftError) {
            let draft = try ComposerDraft.decode(data, target: target)
            return due + performTransaction { $0.sender.putBefore(draft, in: &$0.message) }
        } catch {
            return due + performTransaction { $0.message.editor.transaction.reject(.draft(error)) }
        }
    }

    // MARK: Suspending observation (HKW-33)

    /// Whether observation is suspended: ``suspendObservation()`` has been called more often than
    /// ``resumeObservation(at:)``.
    public var isObservationSuspended: Bool { message.editor.plugIns.suspension.isActive }

    /// Suspends observers, interceptors, the typing rules and typing notifications until the matching
    /// ``resumeObservation(at:)``. Nests.
    public mutating func suspendObservation() {
        message.editor.plugIns.suspension.suspend(document, selection)
    }

    /// Resumes observation after ``suspendObservation()``. The outermost call reports the accumulated difference to
    /// observers as one change by code. Does nothing without a matching call.
    ///
    /// - Returns: the effects, starting with those of timers that were due.
    public mutating func resumeObservation(at now: Duration) -> [ComposerEffect] {
        let due = advance(to: now)
        guard let observed = message.editor.plugIns.suspension.resume() else { return due }
        return due
            + performTransaction { engine in
                observed.reportChanges(
                    to: engine.document, engine.selection, addsEvent: engine.message.editor.plugIns.areObserving,
                    &engine.message.editor.transaction)
            }
    }

    /// Rejects the user's next deletion of a single character, once, and reports it as
    /// ``ComposerRejection/deletionIgnored``. Longer deletions are neither rejected nor counted.
    public mutating func ignoreNextSingleDeletion() {
        message.editor.plugIns.suspension.ignoreNextSingleDeletion()
    }

    // MARK: Plug-ins

    /// Whether there are plug-ins that are called during events without access to the engine.
    public var callsPlugIns: Bool {
        message.editor.plugIns.areCalled || message.editor.followers.completing.policy != nil
    }

    /// Sets the gate that checks new messages before sending; `nil` removes it. Doesn't apply to edits.
    public mutating func setSendGate(_ gate: (any ComposerSendGate)?) {
        message.editor.plugIns.gate = gate
    }

    /// Adds an observer; ignored if there is one with the same name (HKW-5).
    public mutating func add(observer: any ComposerObserver) {
        if message.editor.plugIns.add(observer) { observer.attached(to: state) }
    }

    /// Removes the observer with this name, if there is one.
    public mutating func removeObserver(named name: String) {
        message.editor.plugIns.removeObserver(named: name)
    }

    /// Appends an interceptor; ignored if there is one with the same name.
    public mutating func add(interceptor: any ComposerInterceptor) {
        if message.editor.plugIns.add(interceptor) { interceptor.attached(to: state) }
    }

    /// Removes the interceptor with this name, if there is one.
    public mutating func removeInterceptor(named name: String) {
        message.editor.plugIns.removeInterceptor(named: name)
    }

    /// Sets the input controller, replacing the previous one; `nil` removes it.
    public mutating func setInputController(_ controller: (any ComposerInputController)?) {
        message.editor.plugIns.setController(controller)
        controller?.attached(to: state)
    }

    /// Sets the completion policy, replacing the previous one; `nil` removes it (MIB-32).
    public mutating func setCompletionPolicy(_ policy: (any CompletionPolicy)?) {
        message.editor.followers.setCompletionPolicy(policy)
        policy?.attached(to: state)
    }

    // MARK: Input plug-ins

    /// Whether there is any input plug-in.
    public var hasInputPlugIns: Bool { message.editor.plugIns.hasInputs }

    /// Appends an input plug-in; ignored if there is one with the same name.
    public mutating func add(inputPlugIn: any ComposerInputPlugIn) {
        if message.editor.plugIns.add(inputPlugIn) { inputPlugIn.attached(to: state) }
    }

    /// Removes the input plug-in with this name, if there is one.
    public mutating func removeInputPlugIn(named name: String) {
        message.editor.plugIns.removeInput(named: name)
    }

    /// Calls `reload()` on every input plug-in, in order.
    public func reloadInputPlugIns() { message.editor.plugIns.reloadInputs() }

    /// Calls `invalidate()` on every input plug-in, in order. Sending does so when it clears the composer.
    public func invalidateInputPlugIns() { message.editor.plugIns.invalidateInputs() }

    /// Offers the input plug-ins an attachment from a source other than ``ComposerEvent/paste(_:)``, such as a file
    /// chooser.
    ///
    /// - Parameters:
    ///   - attachment: the attachment.
    ///   - rejectsUnhandled: whether to reject it if no plug-in handles it.
    ///   - now: the current time.
    /// - Returns: the effects, including ``ComposerObservation/pasted`` if a plug-in handled it.
    public mutating func offerToPlugIns(
        _ attachment: Attachment, rejectsUnhandled: Bool, at now: Duration
    ) -> [ComposerEffect] {
        let due = advance(to: now)
        return due
            + performTransaction { engine in
                if engine.isHandledByPlugIn([.media(attachment)]) {
                    engine.message.editor.transaction.observe(.pasted)
                } else if rejectsUnhandled {
                    engine.message.editor.transaction.reject(.mediaType(attachment.type))
                }
            }
    }

    /// Passes offers to the input plug-ins.
    func isHandledByPlugIn(_ offers: [PasteOffer]) -> Bool { message.editor.plugIns.handle(offers, state: state) }
}
