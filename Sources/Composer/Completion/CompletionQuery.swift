/// Whether a prefix or a plain word triggered completion (HKW-37, HKW-38).
public enum CompletionKind: String, Hashable, Sendable, Codable, CaseIterable {
    case explicit, implicit
}

/// A query to a completion provider.
public struct CompletionQuery: Identifiable, Hashable, Sendable {
    /// The identifier that the batches of a provider refer to; an engine never reuses one.
    public let id: String
    /// The prefix of the rule; empty for implicit queries.
    public let prefix: String
    /// The text after the prefix.
    public let text: String
    public let kind: CompletionKind
}

/// A request of the engine to the completion providers.
public enum CompletionRequest: Hashable, Sendable {
    /// Respond with any number of batches, the last one final.
    case query(CompletionQuery)
    /// The response to the query with this identifier is no longer needed.
    case cancel(String)
    /// The user accepted this entity from the list of a prefix; the provider may rank it first from now on.
    case accepted(CompletionEntity, prefix: String)
}
