import Synchronization

/// How far a film has come, in milliseconds; told by the sound that is heard where there is any, and by the time that
/// passes in between.
nonisolated final class VideoClock: Sendable {
    private struct Anchor {
        var position: Double
        var at: ContinuousClock.Instant?
    }

    private let anchor: Mutex<Anchor>

    /// It stands at `start`.
    init(at start: Int) {
        anchor = Mutex(Anchor(position: Double(start), at: nil))
    }

    var position: Double {
        anchor.withLock { anchor in
            guard let at = anchor.at else { return anchor.position }
            return anchor.position + (ContinuousClock.now - at) / .milliseconds(1)
        }
    }

    var isRunning: Bool { anchor.withLock { $0.at != nil } }

    func run() {
        anchor.withLock { if $0.at == nil { $0.at = .now } }
    }

    func stop() {
        let position = position
        anchor.withLock { $0 = Anchor(position: position, at: nil) }
    }

    /// The sound at `position` is heard now.
    func set(_ position: Double) {
        anchor.withLock { if $0.at != nil { $0 = Anchor(position: position, at: .now) } }
    }
}
