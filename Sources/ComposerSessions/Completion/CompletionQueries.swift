import Composer

/// Runs completion queries and returns their results to the composer as events.
final class CompletionQueries {
    var sources: [any CompletionSource] = []
    /// The accepted entities by identifier.
    private(set) var accepted: [String: CompletionEntity] = [:]
    private var tasks: [String: Task<Void, Never>] = [:]
    private let deliver: (ComposerEvent) -> Void

    init(deliver: @escaping (ComposerEvent) -> Void) {
        self.deliver = deliver
    }

    isolated deinit { tasks.values.forEach { $0.cancel() } }

    func prefetch() { sources.forEach { $0.prefetch() } }

    func handle(_ request: CompletionRequest) {
        switch request {
        case .cancel(let id): tasks.removeValue(forKey: id)?.cancel()
        case .query(let query): run(query)
        case .accepted(let entity, let prefix):
            accepted[entity.id] = entity
            sources.first { $0.prefix == prefix }?.accepted(entity)
        }
    }

    /// Without a source for the prefix, returns an empty result.
    private func run(_ query: CompletionQuery) {
        guard let source = sources.first(where: { $0.prefix == query.prefix }) else {
            return deliver(.completionResults(query: query.id, [], isFinal: true))
        }
        let batches = source.batches(for: query)
        tasks[query.id] = Task { [weak self] in
            do {
                for try await batch in batches {
                    self?.deliver(.completionResults(query: query.id, batch, isFinal: false))
                }
                guard !Task.isCancelled else { return }
                self?.deliver(.completionResults(query: query.id, [], isFinal: true))
            } catch {
                let reason = (error as? CompletionFailure)?.reason
                self?.deliver(.completionFailed(query: query.id, reason: reason))
            }
            self?.tasks[query.id] = nil
        }
    }
}
