/// Vets completion (MIB-32). A composer has at most one policy.
///
/// Called once per token, when its list is about to appear, and on acceptance. A policy can't keep a token open that
/// no longer matches the text.
public protocol CompletionPolicy: ComposerPlugIn {
    /// Whether a prefix, or a word without one, opens completion. After a refusal, called again once the caret has
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

extension ComposerEngine {
    /// Sets the completion policy, replacing the previous one; `nil` removes it (MIB-32).
    public mutating func setCompletionPolicy(_ policy: (any CompletionPolicy)?) {
        plugIns.policy?.detached()
        plugIns.policy = policy
        policy?.attached(to: state)
    }

    func mayOpen(_ token: CompletionToken) -> Bool {
        plugIns.policy?.mayOpen(token.rule.prefix, query: token.query, over: token.range, kind: token.kind) ?? true
    }

    /// Whether the policy allows the entity. Reports a refusal.
    mutating func mayAccept(_ entity: CompletionEntity, for prefix: String) -> Bool {
        guard let policy = plugIns.policy, !policy.mayAccept(entity, for: prefix) else { return true }
        reject(.denied(by: policy.name))
        return false
    }

    /// Asks the policy when a list is about to appear, and not again until it has been hidden.
    mutating func applyShowPolicy(wasVisible: Bool) {
        guard let policy = plugIns.policy, !wasVisible else { return }
        completing.session?.isHeldBack = false
        guard let completion, completion.isVisible else { return }
        completing.session?.isHeldBack = !policy.mayShow(completion)
    }
}
