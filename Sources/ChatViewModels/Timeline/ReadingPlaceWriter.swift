import ChatCore

/// Keeps where the user reads in a room, at most ``delay`` and the time of writing behind.
final class ReadingPlaceWriter {
    static let delay = Duration.milliseconds(300)

    private let time: Timekeeper
    private let sink: LatestValueSink<ReadingPlace?>
    private var latest: ReadingPlace?
    private var written: ReadingPlace?
    private var waiting: Task<Void, Never>?

    /// - Parameter save: where it is not kept there is nothing to do about it: the reader begins at the newest message.
    init(time: Timekeeper, save: @escaping @MainActor (ReadingPlace?) async -> Void) {
        self.time = time
        sink = LatestValueSink(save)
    }

    isolated deinit { waiting?.cancel() }

    /// The storage is known to hold this.
    func noteStored(_ place: ReadingPlace?) {
        (latest, written) = (place, place)
    }

    func put(_ place: ReadingPlace?) {
        latest = place
        guard waiting == nil, latest != written else { return }
        waiting = Task { [weak self, time] in
            guard (try? await time.sleep(time.now() + Self.delay)) != nil, !Task.isCancelled else { return }
            self?.write()
        }
    }

    /// Returns when the newest place is kept.
    func flush() async {
        write()
        await sink.settle()
    }

    private func write() {
        waiting?.cancel()
        waiting = nil
        guard latest != written else { return }
        written = latest
        sink.put(latest)
    }
}
