import Foundation

/// What is being fetched: each once, however many wait for it, and no longer than someone does.
actor MediaFetches {
    private struct Fetch {
        var task: Task<URL, any Error>
        var waiting: Set<UUID> = []
    }

    private var running: [String: Fetch] = [:]

    /// - Parameter fetch: done if nobody does it already.
    func file(_ key: String, _ fetch: @escaping @Sendable () async throws -> URL) async throws -> URL {
        let waiter = UUID()
        let task = running[key]?.task ?? Task { try await fetch() }
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
}
