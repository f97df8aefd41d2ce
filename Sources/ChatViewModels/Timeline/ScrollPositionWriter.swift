import ChatCore

/// Keeps where the user reads in a room, at most ``delay`` and the time of writing behind.
final class ScrollPositionWriter {
    static let delay = Duration.milliseconds(300)

    private let time: Timekeeper
    private let sink: LatestValueSink<ScrollPosition?>
    private var latest: ScrollPosition?
    private var written: ScrollPosition?
    private var waiting: Task<Void, Never>?

    /// - Parameter save: where it is not kept there is nothing to do about it: the reader begins at the newest message.
    init(time: Timekeeper, save: @escaping @MainActor (ScrollPosition?) async -> Void) {
        self.time = time
        sink = LatestValueSink(save)
    }

    isolated deinit { waiting?.cancel() }

    /// The storage is known to hold this.
    func noteStored(_ position: ScrollPosition?) {
        (latest, written) = (position, position)
    }

    func put(_ position: ScrollPosition?) {
        latest = position
        guard waiting == nil, latest != written else { return }
        waiting = Task { [weak self, time] in
            guard (try? await time.sleep(time.now() + Self.delay)) != nil, !Task.isCancelled else { return }
            self?.write()
        }
    }

    /// Returns when the newest place is kept.
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
