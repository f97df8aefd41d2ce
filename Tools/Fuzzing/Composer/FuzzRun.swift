import Composer

/// Runs a random script and checks the invariants after each event.
public enum FuzzRun {
    /// - Parameter steps: the maximum number of steps.
    /// - Returns: the number of steps performed, and a description of the violation, if any.
    public static func run(_ source: some ByteSource, steps: Int) -> (steps: Int, violation: String?) {
        var script = RandomScript(source)
        var composer = MirroredComposer(script.composer())
        var done = 0
        while done < steps, let (next, time) = script.next(for: composer.engine) {
            // Each check takes O(n), so bound the length of the text.
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
