import Composer

/// The queries that sources are working on. What they find goes back to the composer as events.
final class CompletionQueries {
    var sources: [any CompletionSource] = []
    /// Who was taken, by the identifier: what the source told of them.
    private(set) var accepted: [String: CompletionEntity] = [:]
    private var tasks: [String: Task<Void, Never>] = [:]
    private let answer: (ComposerEvent) -> Void

    init(answer: @escaping (ComposerEvent) -> Void) {
        self.answer = answer
    }

    isolated deinit { tasks.values.forEach { $0.cancel() } }

    func prefetch() { sources.forEach { $0.prefetch() } }

    func take(_ request: CompletionRequest) {
        switch request {
        case .cancel(let id): tasks.removeValue(forKey: id)?.cancel()
        case .query(let query): ask(query)
        case .accepted(let entity, let prefix):
            accepted[entity.id] = entity
            sources.first { $0.prefix == prefix }?.accepted(entity)
        }
    }

    /// Nobody to ask is an answer too: nothing was found.
    private func ask(_ query: CompletionQuery) {
        guard let source = sources.first(where: { $0.prefix == query.prefix }) else {
            return answer(.completionResults(query: query.id, [], isFinal: true))
        }
        let batches = source.batches(for: query)
        tasks[query.id] = Task { [weak self] in
            do {
                for try await batch in batches {
                    self?.answer(.completionResults(query: query.id, batch, isFinal: false))
                }
                guard !Task.isCancelled else { return }
                self?.answer(.completionResults(query: query.id, [], isFinal: true))
            } catch {
                let reason = (error as? CompletionFailure)?.reason
                self?.answer(.completionFailed(query: query.id, reason: reason))
            }
            self?.tasks[query.id] = nil
        }
    }
}
