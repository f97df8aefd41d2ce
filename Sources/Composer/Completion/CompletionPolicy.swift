/// Vets completion (MIB-32). A composer has at most one policy.
///
/// Called once per token, when its list is about to appear, and on acceptance. A policy can't keep a token open that
/// no longer matches the text.
public protocol CompletionPolicy: ComposerPlugIn {
    /// Whether a prefix, or a word without one, opens completion. After `false`, called again once the caret has
    /// left the word.
    func mayOpen(_ prefix: String, query: String, over range: TextRange, kind: CompletionKind) -> Bool
    /// Whether to show the list.
    func mayShow(_ completion: CompletionState) -> Bool
    /// Whether this entity may replace the token.
    func mayAccept(_ entity: CompletionEntity, for prefix: String) -> Bool
}

extension CompletionPolicy {
    public func mayOpen(_ prefix: String, query: String, over range: TextRange, kind: CompletionKind) -> Bool { true }
    public func mayShow(_ completion: CompletionState) -> Bool { true }
    public func mayAccept(_ entity: CompletionEntity, for prefix: String) -> Bool { true }
}
