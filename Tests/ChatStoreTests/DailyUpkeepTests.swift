import ChatStore
import ChatTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct DailyUpkeepTests {
    private final class Runs: Sendable {
        private let runs = Mutex(0)
        var count: Int { runs.withLock { $0 } }
        func add() { runs.withLock { $0 += 1 } }
    }

    @Test("It runs at once, then once a day, until it is canceled")
    func runsDaily() async {
        let (clock, runs) = (ManualClock(), Runs())
        let upkeep = Task { await DailyUpkeep.run(on: clock) { runs.add() } }
        await clock.waitForSleepers()
        #expect(runs.count == 1)
        clock.advance(by: .seconds(86_399))
        #expect(clock.sleeperCount == 1, "nothing wakes the program before that")
        for count in 2...4 {
            clock.advance(by: .seconds(86_400))
            await clock.waitForSleepers()
            #expect(runs.count == count)
        }
        upkeep.cancel()
        await upkeep.value
        #expect(runs.count == 4 && clock.sleeperCount == 0)
    }
}
