public import Composer
import Synchronization

/// A set of entities that changes over time, indexed off the main thread on demand.
///
/// ``set(_:)`` is cheap on any thread: the index is built by the next query, once for any number of changes.
public nonisolated final class CompletionDirectory: Sendable {
    /// Builds the index, for example from a database; called off the main thread.
    public typealias Make = @Sendable () async throws -> CompletionIndex

    /// The maximum number of recent entities; each adds to the cost of a query.
    public static let recentLimit = 32

    private struct State {
        var make: Make
        /// Incremented when the entities change.
        var generation = 0
        var index: (generation: Int, value: CompletionIndex)?
        var building: (generation: Int, task: Task<CompletionIndex, any Error>)?
        var recentIDs: [String] = []
        /// The cached lookup of recent IDs in an index.
        var recent: (generation: Int, ids: [String], entities: [CompletionEntity])?
    }

    private let state: Mutex<State>

    /// - Parameter make: builds the first index; called off the main thread.
    public init(_ make: @escaping Make = { CompletionIndex([]) }) {
        state = Mutex(State(make: make))
    }

    /// Replaces the entities.
    public func set(_ make: @escaping Make) {
        state.withLock { state in
            state.make = make
            state.generation += 1
        }
    }

    /// Removes the entities, and at once the index of them: after ``set(_:)``, it stays until the next query.
    package func clear() {
        state.withLock { state in
            state.make = { CompletionIndex([]) }
            state.generation += 1
            // A build in progress is older than this, and discarded.
            state.index = (state.generation, CompletionIndex([]))
            state.recent = nil
        }
    }

    /// Sets the entities to rank first, most recent first.
    public func setRecent(_ identifiers: some Sequence<String>) {
        let identifiers = Array(identifiers.prefix(Self.recentLimit))
        state.withLock { $0.recentIDs = identifiers }
    }

    /// Whether the index reflects the current entities.
    var isUpToDate: Bool { state.withLock { $0.index?.generation == $0.generation } }

    /// Returns the matches in the current index, which may be outdated, or `nil` if there is none yet.
    func matches(of query: String, limit: Int) -> [CompletionEntity]? {
        guard let index = state.withLock({ $0.index }) else { return nil }
        return index.value.matches(of: query, recent: recent(in: index), limit: limit)
    }

    /// Builds the index if it is outdated, joining a build in progress.
    func update() async throws {
        let (generation, task) = state.withLock { state in
            if let building = state.building, building.generation == state.generation { return building }
            let make = state.make
            let building = (generation: state.generation, task: Task.detached { try await make() })
            state.building = building
            return building
        }
        let result = await task.result
        state.withLock { state in
            if state.building?.generation == generation { state.building = nil }
            guard case .success(let index) = result, state.index.map({ $0.generation < generation }) ?? true else {
                return
            }
            state.index = (generation, index)
        }
        _ = try result.get()
    }

    private func recent(in index: (generation: Int, value: CompletionIndex)) -> [CompletionEntity] {
        let (ids, cached) = state.withLock { ($0.recentIDs, $0.recent) }
        if let cached, cached.generation == index.generation, cached.ids == ids { return cached.entities }
        let requestedIDs = Set(ids)
        let found = index.value.entities.lazy.filter { requestedIDs.contains($0.id) }.map { ($0.id, $0) }
        let byID = Dictionary(found, uniquingKeysWith: { first, _ in first })
        let entities = ids.compactMap { byID[$0] }
        state.withLock { $0.recent = (index.generation, ids, entities) }
        return entities
    }
}
