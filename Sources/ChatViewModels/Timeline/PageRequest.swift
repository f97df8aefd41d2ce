import ChatCore
import ComposerSessions

/// The page that the view waits for. The view requests the next one as soon as this one has finished, so a failed request
/// finishes only after a delay.
final class PageRequest {
    static let retryDelay = Duration.seconds(2)

    private let time: Timekeeper
    private let onFinish: (TimelineEdge) -> Void
    private var edge: TimelineEdge?
    private var retry: Task<Void, Never>?

    /// - Parameter onFinish: called when the view may request a page at this edge again.
    init(time: Timekeeper, onFinish: @escaping (TimelineEdge) -> Void) {
        self.time = time
        self.onFinish = onFinish
    }

    isolated deinit { retry?.cancel() }

    func begin(_ edge: TimelineEdge) {
        retry?.cancel()
        self.edge = edge
    }

    /// Call when a request has ended, even if no view made it.
    func end(isLoaded: Bool) {
        guard let edge else { return }
        retry?.cancel()
        if isLoaded { return finish(edge) }
        let end = time.now() + Self.retryDelay
        retry = Task { [weak self, time] in
            do { try await time.sleep(end) } catch { return }
            if !Task.isCancelled { self?.finish(edge) }
        }
    }

    private func finish(_ edge: TimelineEdge) {
        self.edge = nil
        onFinish(edge)
    }
}
