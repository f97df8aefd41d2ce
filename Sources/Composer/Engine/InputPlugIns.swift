/// Handles pastes and drops before the composer does: a tray, a player, a link preview (MIB-19, MIB-22).
public protocol ComposerInputPlugIn: ComposerPlugIn {
    /// Returns whether the plug-in handled the offer; if not, it passes to the next plug-in and finally to the
    /// composer.
    func handle(_ offer: PasteOffer, state: ComposerState) -> Bool
    /// Refreshes what the plug-in shows.
    func reload()
    /// Discards what the plug-in holds, after it was sent or removed.
    func invalidate()
}

extension ComposerEngine {
    /// Appends an input plug-in; ignored if there is one with the same name.
    public mutating func add(inputPlugIn: any ComposerInputPlugIn) {
        guard !plugIns.inputs.contains(where: { $0.name == inputPlugIn.name }) else { return }
        plugIns.inputs.append(inputPlugIn)
        inputPlugIn.attached(to: state)
    }

    /// Removes the input plug-in with this name, if there is one.
    public mutating func removeInputPlugIn(named name: String) {
        guard let index = plugIns.inputs.firstIndex(where: { $0.name == name }) else { return }
        plugIns.inputs.remove(at: index).detached()
    }

    /// Calls `reload()` on every input plug-in, in order.
    public func reloadInputPlugIns() {
        for plugIn in plugIns.inputs { plugIn.reload() }
    }

    /// Calls `invalidate()` on every input plug-in, in order. Sending does so when it clears the composer.
    public func invalidateInputPlugIns() {
        for plugIn in plugIns.inputs { plugIn.invalidate() }
    }

    /// Whether there is any input plug-in.
    public var hasInputPlugIns: Bool { !plugIns.inputs.isEmpty }

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
                    engine.observe(.pasted)
                } else if rejectsUnhandled {
                    engine.reject(.mediaType(attachment.type))
                }
            }
    }

    /// Passes all offers to each input plug-in in order, until one handles an offer.
    func isHandledByPlugIn(_ offers: [PasteOffer]) -> Bool {
        guard !plugIns.inputs.isEmpty, !isObservationSuspended else { return false }
        let state = state
        return plugIns.inputs.contains { plugIn in offers.contains { plugIn.handle($0, state: state) } }
    }
}
