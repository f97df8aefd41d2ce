/// The size of sync requests: reduced after a response that was too large, too late or malformed, and gradually
/// restored.
struct SyncWindow: Equatable, Sendable {
    private struct Step {
        /// Timeline events per room, for either API.
        var plainEvents: Int
        var slidingEvents: Int
        /// The number of rooms in the first sliding sync, and how many are added with each further request.
        var firstRooms: Int
        var moreRooms: Int
        /// The maximum number of to-device messages in a response of sliding sync.
        var deviceMessages: Int
    }

    // Reduce rooms before events: when a client raises the timeline limit again, the server resends all events.
    private static let steps = [
        Step(plainEvents: 30, slidingEvents: 20, firstRooms: 20, moreRooms: 100, deviceMessages: 100),
        Step(plainEvents: 10, slidingEvents: 20, firstRooms: 20, moreRooms: 20, deviceMessages: 50),
        Step(plainEvents: 5, slidingEvents: 5, firstRooms: 20, moreRooms: 20, deviceMessages: 20),
        Step(plainEvents: 1, slidingEvents: 1, firstRooms: 5, moreRooms: 5, deviceMessages: 1),
    ]
    private static let maxFalls = 16

    private var stepIndex = 0
    private var responseCount = 0
    /// How often a response was too large, too late or malformed.
    private(set) var falls = 0

    private var step: Step { Self.steps[stepIndex] }
    var plainEvents: Int { step.plainEvents }
    var slidingEvents: Int { step.slidingEvents }
    var firstRooms: Int { step.firstRooms }
    var moreRooms: Int { step.moreRooms }
    var deviceMessages: Int { step.deviceMessages }

    /// - Returns: `false` if the size is minimal already.
    mutating func shrink() -> Bool {
        falls = min(falls + 1, Self.maxFalls)
        responseCount = 0
        guard stepIndex + 1 < Self.steps.count else { return false }
        stepIndex += 1
        return true
    }

    /// Records a successful response. The cause may be permanent: the number of responses before growing doubles with
    /// each failure.
    /// - Returns: Whether the size grew.
    mutating func grow() -> Bool {
        guard stepIndex > 0 else { return false }
        responseCount += 1
        guard responseCount >= 1 << falls else { return false }
        stepIndex -= 1
        responseCount = 0
        return true
    }
}
