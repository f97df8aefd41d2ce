import Foundation

/// Downloads in progress: each runs once for all its callers, and is canceled when no caller is left.
actor MediaFetches {
    private struct Fetch {
        var task: Task<URL, any Error>
        var waiting: Set<UUID> = []
    }

    private var running: [String: Fetch] = [:]

    /// - Parameter fetch: Called unless a download with this key is running.
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
