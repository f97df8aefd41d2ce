/// Takes pastes and drops before the composer does: a tray, a player, a link preview (MIB-19, MIB-22).
public protocol ComposerInputPlugIn: ComposerPlugIn {
    /// Takes what is offered, or leaves it to the next and at last to the composer. By the offer's type it tells what
    /// is its own.
    func handle(_ offer: PasteOffer, state: ComposerState) -> Bool
    /// What it shows may be out of date.
    func reload()
    /// What it holds has been sent or is not wanted any more.
    func invalidate()
}

extension ComposerEngine {
    /// Adds an input plug-in behind those that are there; one whose name is there already is ignored.
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

    /// Has every input plug-in show again what it holds, in order.
    public func reloadInputPlugIns() {
        for plugIn in plugIns.inputs { plugIn.reload() }
    }

    /// Has every input plug-in forget what it holds, in order. Sending does so where it clears the composer.
    public func invalidateInputPlugIns() {
        for plugIn in plugIns.inputs { plugIn.invalidate() }
    }

    /// Whether there is any input plug-in.
    public var hasInputPlugIns: Bool { !plugIns.inputs.isEmpty }

    /// Offers the input plug-ins what comes in another way than by ``ComposerEvent/paste(_:)``, as a file that was chosen.
    ///
    /// - Parameter rejectsUnhandled: whether it is refused where none takes it: there is nobody else.
    /// - Returns: the effects; ``ComposerObservation/pasted`` is among them if one took it.
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

    /// Asks the input plug-ins in order, each for all that is offered; the first that takes something ends it.
    func isHandledByPlugIn(_ offers: [PasteOffer]) -> Bool {
        guard !plugIns.inputs.isEmpty, !isObservationSuspended else { return false }
        let state = state
        return plugIns.inputs.contains { plugIn in offers.contains { plugIn.handle($0, state: state) } }
    }
}
