import Composer

/// Runs a random script and looks after each event whether everything holds.
public enum FuzzRun {
    /// - Parameter steps: the most events.
    /// - Returns: how many events there were, and what broke, if something did.
    public static func run(_ source: some ByteSource, steps: Int) -> (steps: Int, violation: String?) {
        var script = RandomScript(source)
        var composer = MirroredComposer(script.composer())
        var done = 0
        while done < steps, let (event, time) = script.next(for: composer.engine) {
            // Checking costs O(n) a step, so the text is not let grow without end.
            let event = composer.engine.document.length > 2000 ? ComposerEvent.clear : event
            if let broken = composer.handle(event, at: time) ?? Invariants.violation(of: composer) {
                return (done, "after step \(done), \(event): \(broken)")
            }
            done += 1
            guard done.isMultiple(of: 64) else { continue }
            if let broken = Invariants.undoViolation(of: composer, at: time)
                ?? Invariants.draftViolation(of: composer.engine)
            {
                return (done, "after step \(done), \(event): \(broken)")
            }
        }
        return (done, nil)
    }
}
