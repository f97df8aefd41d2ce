/// Whether a prefix asked for completion or a mere word did (HKW-37, HKW-38).
public enum CompletionKind: String, Hashable, Sendable, Codable, CaseIterable {
    case explicit, implicit
}

/// What a provider is asked.
public struct CompletionQuery: Identifiable, Hashable, Sendable {
    /// What the provider's batches name; never given twice by one engine.
    public let id: String
    /// The prefix of the rule; empty for an implicit query.
    public let prefix: String
    /// What was written behind the prefix.
    public let text: String
    public let kind: CompletionKind
}

/// What the engine wants of the providers.
public enum CompletionRequest: Hashable, Sendable {
    /// Answer by any number of batches, the last of them final.
    case query(CompletionQuery)
    /// The answer to the query with this identifier is no longer of use.
    case cancel(String)
    /// The user took this entity of the list that the prefix opened: it may come first from now on.
    case accepted(CompletionEntity, prefix: String)
}
