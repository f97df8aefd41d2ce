public import Composer

/// Answers completion queries from a directory: first from its current index, then from an updated one if it is
/// outdated, and once more when entities that were still to come have arrived. All work happens off the main thread.
public nonisolated struct DirectorySource: CompletionSource {
    /// The prefix of the completion rule, such as `@`.
    public let prefix: String
    private let directory: CompletionDirectory
    private let limit: Int
    private let refresh: @MainActor @Sendable (CompletionDirectory) -> Void
    private let arrivals: @MainActor @Sendable (CompletionDirectory) -> Arrival?

    /// Waits for entities and updates the directory with them. Returns within a limited time, also without them.
    public typealias Arrival = @MainActor @Sendable () async -> Void

    /// - Parameters:
    ///   - limit: the maximum number of matches per query.
    ///   - refresh: updates the directory before each query; must return immediately.
    ///   - arrivals: returns what a query waits for after it was answered with the known entities, such as a request
    ///     to a server, or `nil` if all are known. Called before each query; must return immediately.
    public init(
        prefix: String, directory: CompletionDirectory, limit: Int = 50,
        refresh: @escaping @MainActor @Sendable (CompletionDirectory) -> Void = { _ in },
        arrivals: @escaping @MainActor @Sendable (CompletionDirectory) -> Arrival? = { _ in nil }
    ) {
        self.prefix = prefix
        self.directory = directory
        self.limit = limit
        self.refresh = refresh
        self.arrivals = arrivals
    }

    /// Builds the index in advance (HKW-50).
    @MainActor public func prefetch() {
        refresh(directory)
        _ = arrivals(directory)
        guard !directory.isUpToDate else { return }
        // Ignore failures here: the next query reports them.
        Task.detached(priority: .utility) { [directory] in try? await directory.update() }
    }

    @MainActor public func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error> {
        refresh(directory)
        let (directory, limit, text, arrival) = (directory, limit, query.text, arrivals(directory))
        return AsyncThrowingStream { continuation in
            let task = Task.detached(priority: .userInitiated) {
                do {
                    // Check first, or an update finishing in between would be missed.
                    let isUpToDate = directory.isUpToDate
                    // An empty batch would hide the rows of the query before while the index is updated.
                    if let matches = directory.matches(of: text, limit: limit), isUpToDate || !matches.isEmpty {
                        continuation.yield(matches)
                    }
                    if !isUpToDate {
                        try await directory.update()
                        try Task.checkCancellation()
                        continuation.yield(directory.matches(of: text, limit: limit) ?? [])
                    }
                    if let arrival {
                        await arrival()
                        try Task.checkCancellation()
                        if !directory.isUpToDate { try await directory.update() }
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
