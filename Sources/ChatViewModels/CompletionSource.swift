public import ChatCore
public import Composer

/// Answers the completion queries of one prefix.
public nonisolated protocol CompletionSource: Sendable {
    /// The prefix of the rule that it answers for; empty for implicit queries.
    var prefix: String { get }
    /// The matches, the best first, in as many batches as it takes. Ending the stream is cancelling it.
    func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error>
}

/// Matches among entities that can be asked for as a whole: the members of a room, the rooms of an account.
///
/// Ranking runs off the main thread.
public nonisolated struct EntitySource: CompletionSource {
    public let prefix: String
    /// How many matches are handed over at once.
    private static let batchSize = 50
    private let entities: @Sendable () async throws -> [CompletionEntity]
    private let recent: @Sendable () async -> [String]

    /// - Parameters:
    ///   - entities: all there are, in the order in which an empty query lists them.
    ///   - recent: identifiers of those that come first, the most recent first.
    public init(
        prefix: String, recent: @escaping @Sendable () async -> [String] = { [] },
        entities: @escaping @Sendable () async throws -> [CompletionEntity]
    ) {
        self.prefix = prefix
        self.recent = recent
        self.entities = entities
    }

    public func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error> {
        let (entities, recent, text) = (entities, recent, query.text)
        return AsyncThrowingStream { continuation in
            let task = Task.detached {
                do {
                    let ranking = CompletionRanking(recent: await recent())
                    let matches = ranking.matches(of: text, among: try await entities()).map(\.entity)
                    for start in stride(from: 0, to: matches.count, by: Self.batchSize) {
                        try Task.checkCancellation()
                        continuation.yield(Array(matches[start..<min(start + Self.batchSize, matches.count)]))
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

extension CompletionEntity {
    /// The members of a room as completion offers them: those who are there, without oneself. Who shares a name with
    /// somebody else is told apart by the identifier.
    public nonisolated static func entities(of members: [Member]) -> [CompletionEntity] {
        let present = members.filter { !$0.hasLeft && $0.kind != .own }
        let names = Dictionary(grouping: present, by: { $0.displayName.lowercased() }).mapValues(\.count)
        return present.map { member in
            let first = String(member.displayName.prefix { !$0.isWhitespace })
            let isShared = names[member.displayName.lowercased(), default: 1] > 1
            return CompletionEntity(
                id: member.id.rawValue, name: member.displayName, short: first == member.displayName ? nil : first,
                detail: isShared ? member.id.rawValue : nil)
        }
    }

    /// The rooms of an account as completion offers them.
    public nonisolated static func entities(of rooms: [RoomSummary]) -> [CompletionEntity] {
        let names = Dictionary(grouping: rooms, by: { $0.room.name.lowercased() }).mapValues(\.count)
        return rooms.map { summary in
            let isShared = names[summary.room.name.lowercased(), default: 1] > 1
            return CompletionEntity(
                id: summary.id.rawValue, name: summary.room.name, detail: isShared ? summary.id.rawValue : nil)
        }
    }
}
