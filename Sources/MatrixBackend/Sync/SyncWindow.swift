/// How much a sync asks for in one answer: less after one that was more than is taken, and by and by more again.
struct SyncWindow: Equatable, Sendable {
    private struct Step {
        /// The newest events of a room, by either kind of sync.
        var plainEvents: Int
        var slidingEvents: Int
        /// The rooms that a sliding sync begins with, and how many more there are in each answer that follows.
        var firstRooms: Int
        var moreRooms: Int
    }

    // Fewer rooms first: a server that is asked for more events of a room than before sends them all again.
    private static let steps = [
        Step(plainEvents: 30, slidingEvents: 20, firstRooms: 20, moreRooms: 100),
        Step(plainEvents: 10, slidingEvents: 20, firstRooms: 20, moreRooms: 20),
        Step(plainEvents: 5, slidingEvents: 5, firstRooms: 20, moreRooms: 20),
        Step(plainEvents: 1, slidingEvents: 1, firstRooms: 5, moreRooms: 5),
    ]
    private static let maxFalls = 16

    private var stepIndex = 0
    private var responseCount = 0
    /// How often an answer was too much.
    private(set) var falls = 0

    private var step: Step { Self.steps[stepIndex] }
    var plainEvents: Int { step.plainEvents }
    var slidingEvents: Int { step.slidingEvents }
    var firstRooms: Int { step.firstRooms }
    var moreRooms: Int { step.moreRooms }

    /// - Returns: false if there is nothing less.
    mutating func shrink() -> Bool {
        falls = min(falls + 1, Self.maxFalls)
        responseCount = 0
        guard stepIndex + 1 < Self.steps.count else { return false }
        stepIndex += 1
        return true
    }

    /// Takes note of an answer that was taken in. What was too much may be so for good: with each fall twice as many
    /// answers are waited for before more is asked for.
    /// - Returns: whether more is asked for from now on.
    mutating func grow() -> Bool {
        guard stepIndex > 0 else { return false }
        responseCount += 1
        guard responseCount >= 1 << falls else { return false }
        stepIndex -= 1
        responseCount = 0
        return true
    }
}
