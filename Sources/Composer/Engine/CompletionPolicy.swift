/// Has a say in what completion does (MIB-32). There is at most one.
///
/// It is asked once for each token, when its list is about to show, and when somebody chooses. That a token ends cannot be
/// refused: completion would go on about a text that is not there.
public protocol CompletionPolicy: ComposerPlugIn {
    /// Whether a prefix, or a word without one, opens completion. What was refused is asked again once the caret has left
    /// the word.
    func mayOpen(_ prefix: String, query: String, over range: TextRange, kind: CompletionKind) -> Bool
    /// Whether what was found is shown.
    func mayShow(_ completion: CompletionState) -> Bool
    /// Whether this entity may take the token's place.
    func mayAccept(_ entity: CompletionEntity, for prefix: String) -> Bool
}

extension CompletionPolicy {
    public func mayOpen(_ prefix: String, query: String, over range: TextRange, kind: CompletionKind) -> Bool { true }
    public func mayShow(_ completion: CompletionState) -> Bool { true }
    public func mayAccept(_ entity: CompletionEntity, for prefix: String) -> Bool { true }
}

extension ComposerEngine {
    /// Puts a policy in the place of the one before; nil asks nobody (MIB-32).
    public mutating func setCompletionPolicy(_ policy: (any CompletionPolicy)?) {
        plugIns.policy?.detached()
        plugIns.policy = policy
        policy?.attached(to: state)
    }

    func mayOpen(_ token: CompletionToken) -> Bool {
        plugIns.policy?.mayOpen(token.rule.prefix, query: token.query, over: token.range, kind: token.kind) ?? true
    }

    /// Whether this entity may be taken; else it has been reported.
    mutating func mayAccept(_ entity: CompletionEntity, for prefix: String) -> Bool {
        guard let policy = plugIns.policy, !policy.mayAccept(entity, for: prefix) else { return true }
        reject(.denied(by: policy.name))
        return false
    }

    /// Asks once a list has become one to show, and not again before it was hidden.
    mutating func applyShowPolicy(wasVisible: Bool) {
        guard let policy = plugIns.policy, !wasVisible else { return }
        completing.session?.isHeldBack = false
        guard let completion, completion.isVisible else { return }
        completing.session?.isHeldBack = !policy.mayShow(completion)
    }
}
