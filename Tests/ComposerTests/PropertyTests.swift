import Composer
import Fuzzing
import Testing

/// Invariants that hold after any sequence of events.
struct PropertyTests {
    @Test(arguments: 0..<12)
    func invariantsHoldAfterRandomEvents(seed: Int) {
        let result = FuzzRun.run(SeededBytes(seed: UInt64(seed)), steps: 1500)
        #expect(result.violation == nil)
        #expect(result.steps == 1500)
    }

    /// The engine is deterministic: the same events give the same effects and state.
    @Test(arguments: 0..<4)
    func replayingATraceGivesTheSameResult(seed: Int) {
        var runs: [([ComposerEffect], ComposerState)] = []
        for _ in 0..<2 {
            var script = RandomScript(SeededBytes(seed: UInt64(seed)))
            var engine = script.composer()
            var effects: [ComposerEffect] = []
            for _ in 0..<1500 {
                guard let (step, time) = script.next(for: engine) else { break }
                effects += step.apply(to: &engine, at: time)
            }
            runs.append((effects, engine.state))
        }
        #expect(runs[0].0 == runs[1].0)
        #expect(runs[0].1 == runs[1].1)
    }
}
