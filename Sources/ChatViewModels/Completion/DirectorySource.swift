public import Composer

/// Answers the queries of a prefix from a directory: at once with what was indexed last, and then with what has come
/// to it since. Nothing runs on the main thread.
public nonisolated struct DirectorySource: CompletionSource {
    public let prefix: String
    private let directory: CompletionDirectory
    private let limit: Int
    private let refresh: @MainActor @Sendable (CompletionDirectory) -> Void

    /// - Parameters:
    ///   - limit: the most matches of one query; who wants others writes more of the name.
    ///   - refresh: called before each query to tell the directory of what is new; must return at once.
    public init(
        prefix: String, directory: CompletionDirectory, limit: Int = 50,
        refresh: @escaping @MainActor @Sendable (CompletionDirectory) -> Void = { _ in }
    ) {
        self.prefix = prefix
        self.directory = directory
        self.limit = limit
        self.refresh = refresh
    }

    /// Indexes what the directory knows (HKW-50).
    @MainActor public func prefetch() {
        refresh(directory)
        guard !directory.isUpToDate else { return }
        // What fails now is told when somebody asks.
        Task.detached(priority: .utility) { [directory] in try? await directory.update() }
    }

    @MainActor public func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error> {
        refresh(directory)
        let (directory, limit, text) = (directory, limit, query.text)
        return AsyncThrowingStream { continuation in
            let task = Task.detached(priority: .userInitiated) {
                do {
                    // Asked before: what is indexed meanwhile would else be missed.
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
