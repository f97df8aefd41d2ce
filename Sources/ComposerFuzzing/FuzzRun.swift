import Composer

/// Runs a random script and looks after each event whether everything holds.
public enum FuzzRun {
    /// - Parameter steps: the most of them.
    /// - Returns: how many steps there were, and what broke, if something did.
    public static func run(_ source: some ByteSource, steps: Int) -> (steps: Int, violation: String?) {
        var script = RandomScript(source)
        var composer = MirroredComposer(script.composer())
        var done = 0
        while done < steps, let (next, time) = script.next(for: composer.engine) {
            // Checking costs O(n) a step, so the text is not let grow without end.
            let step = composer.engine.document.length > 2000 ? FuzzStep.event(.clear) : next
            if let broken = composer.perform(step, at: time) ?? Invariants.violation(of: composer) {
                return (done, "after step \(done), \(step): \(broken)")
            }
            done += 1
            guard done.isMultiple(of: 64) else { continue }
            if let broken = Invariants.undoViolation(of: composer, at: time)
                ?? Invariants.draftViolation(of: composer.engine)
            {
                return (done, "after step \(done), \(step): \(broken)")
            }
        }
        return (done, nil)
    }
}
