public import Composer

/// Answers completion queries from a directory: first from its current index, then from an updated one if it is
/// outdated. All work happens off the main thread.
public nonisolated struct DirectorySource: CompletionSource {
    /// The prefix of the completion rule, such as `@`.
    public let prefix: String
    private let directory: CompletionDirectory
    private let limit: Int
    private let refresh: @MainActor @Sendable (CompletionDirectory) -> Void

    /// - Parameters:
    ///   - limit: the maximum number of matches per query.
    ///   - refresh: updates the directory before each query; must return immediately.
    public init(
        prefix: String, directory: CompletionDirectory, limit: Int = 50,
        refresh: @escaping @MainActor @Sendable (CompletionDirectory) -> Void = { _ in }
    ) {
        self.prefix = prefix
        self.directory = directory
        self.limit = limit
        self.refresh = refresh
    }

    /// Builds the index in advance (HKW-50).
    @MainActor public func prefetch() {
        refresh(directory)
        guard !directory.isUpToDate else { return }
        // Ignore failures here: the next query reports them.
        Task.detached(priority: .utility) { [directory] in try? await directory.update() }
    }

    @MainActor public func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error> {
        refresh(directory)
        let (directory, limit, text) = (directory, limit, query.text)
        return AsyncThrowingStream { continuation in
            let task = Task.detached(priority: .userInitiated) {
                do {
                    // Check first, or an update finishing in between would be missed.
                    let isUpToDate = directory.isUpToDate
                    if let matches = directory.matches(of: text, limit: limit) { continuation.yield(matches) }
                    if !isUpToDate {
                        try await directory.update()
                        try Task.checkCancellation()
                        continuation.yield(directory.matches(of: text, limit: limit) ?? [])
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
