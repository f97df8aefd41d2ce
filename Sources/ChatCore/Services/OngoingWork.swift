import Synchronization

/// Counts the work in memory that an end of the program would interrupt, such as copying a file.
public final class OngoingWork: Sendable {
    private struct State {
        var count = 0
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    /// What the whole program counts.
    public static let shared = OngoingWork()

    private let state = Mutex(State())

    public init() {}

    public var isEmpty: Bool { state.withLock { $0.count == 0 } }

    /// Counts work until it returns or throws.
    public func run<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        state.withLock { $0.count += 1 }
        defer { end() }
        return try await work()
    }

    /// Returns once nothing is counted, or the task is canceled.
    public func waitUntilEmpty() async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        let isEmpty = state.withLock { state in
            if state.count > 0 { state.waiting.append(continuation) }
            return state.count == 0
        }
        if isEmpty { continuation.finish() }
        for await _ in stream {}
    }

    private func end() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [AsyncStream<Never>.Continuation]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }
}
