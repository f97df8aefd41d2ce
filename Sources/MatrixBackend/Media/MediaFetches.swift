import Foundation

/// Downloads in progress: each runs once for all its callers, and is canceled when no caller is left.
actor MediaFetches {
    /// How many run at once. Over HTTP/1.1 each has one of the few connections to the server, of which the sync and the
    /// outbox need some, too.
    private let limit: Int

    private struct Fetch {
        var task: Task<URL, any Error>
        var waiting: Set<UUID> = []
    }

    /// A download that waits for another one to end.
    private struct Waiter {
        let id: UUID
        /// Receives whether the download may begin; `false` after a cancellation.
        let continuation: CheckedContinuation<Bool, Never>
    }

    private var running: [String: Fetch] = [:]
    /// The number of downloads that have begun and not ended.
    private var count = 0
    /// In the order of the requests.
    private var queue: [Waiter] = []

    init(limit: Int) { self.limit = limit }

    /// - Parameter fetch: Called unless a download with this key is running.
    func file(_ key: String, _ fetch: @escaping @Sendable () async throws -> URL) async throws -> URL {
        let waiter = UUID()
        let task = running[key]?.task ?? Task { try await limited(fetch) }
        running[key, default: Fetch(task: task)].waiting.insert(waiter)
        return try await withTaskCancellationHandler {
            let result = await task.result
            leave(key, waiter)
            return try result.get()
        } onCancel: {
            Task { await self.leave(key, waiter) }
        }
    }

    private func leave(_ key: String, _ waiter: UUID) {
        guard running[key]?.waiting.remove(waiter) != nil, running[key]?.waiting.isEmpty == true else { return }
        running[key]?.task.cancel()
        running[key] = nil
    }

    private func limited(_ fetch: @Sendable () async throws -> URL) async throws -> URL {
        try await begin()
        defer { end() }
        return try await fetch()
    }

    private func begin() async throws {
        try Task.checkCancellation()
        guard count >= limit else {
            count += 1
            return
        }
        let id = UUID()
        let mayBegin = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.append(Waiter(id: id, continuation: continuation))
            }
        } onCancel: {
            // It comes to the actor after the waiter has been queued.
            Task { await self.cancel(id) }
        }
        guard mayBegin else { throw CancellationError() }
    }

    private func end() {
        if queue.isEmpty {
            count -= 1
        } else {
            // The next one replaces it in the count.
            queue.removeFirst().continuation.resume(returning: true)
        }
    }

    private func cancel(_ id: UUID) {
        guard let index = queue.firstIndex(where: { $0.id == id }) else { return }
        queue.remove(at: index).continuation.resume(returning: false)
    }
}
