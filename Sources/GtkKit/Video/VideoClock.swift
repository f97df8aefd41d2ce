import Synchronization

/// The playback position in milliseconds: set by the audio output if there is any, and extrapolated in between.
nonisolated final class VideoClock: Sendable {
    private struct Anchor {
        var position: Double
        var at: ContinuousClock.Instant?
    }

    private let anchor: Mutex<Anchor>

    /// Creates a stopped clock at `start`.
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

    /// Resynchronizes with the audio that is audible now, unless the clock is stopped.
    func set(_ position: Double) {
        anchor.withLock { if $0.at != nil { $0 = Anchor(position: position, at: .now) } }
    }
}
