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
