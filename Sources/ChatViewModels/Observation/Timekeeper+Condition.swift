import ComposerSessions
import Observation

extension Timekeeper {
    /// Returns when a condition over observable state holds, or after `limit`.
    func wait(atMost limit: Duration, until condition: @escaping @MainActor () -> Bool) async {
        let watching = Task {
            let states = Observations<Bool, Never> { condition() }
            for await holds in states where holds { return }
        }
        let limiting = Task {
            // Canceled once the condition holds, when there is nothing left to cancel.
            try? await sleep(now() + limit)
            watching.cancel()
        }
        await watching.value
        limiting.cancel()
    }
}
