import ChatCore
import ComposerSessions

/// Stores the scroll position of a room, at most once per ``delay``.
final class ScrollPositionWriter {
    static let delay = Duration.milliseconds(300)

    private let time: Timekeeper
    private let sink: LatestValueSink<ScrollPosition?>
    private var latest: ScrollPosition?
    private var written: ScrollPosition?
    private var waiting: Task<Void, Never>?

    /// - Parameter save: ignores failures, after which the room opens at the newest message.
    init(time: Timekeeper, save: @escaping @MainActor (ScrollPosition?) async -> Void) {
        self.time = time
        sink = LatestValueSink(save)
    }

    isolated deinit { waiting?.cancel() }

    /// Records what the storage already holds.
    func noteStored(_ position: ScrollPosition?) {
        (latest, written) = (position, position)
    }

    func put(_ position: ScrollPosition?) {
        latest = position
        guard waiting == nil, latest != written else { return }
        waiting = Task { [weak self, time] in
            // Throws only if it is canceled.
            guard (try? await time.sleep(time.now() + Self.delay)) != nil, !Task.isCancelled else { return }
            self?.write()
        }
    }

    /// Returns when the latest position is stored.
    func flush() async {
        write()
        await sink.waitUntilIdle()
    }

    private func write() {
        waiting?.cancel()
        waiting = nil
        guard latest != written else { return }
        written = latest
        sink.put(latest)
    }
}
