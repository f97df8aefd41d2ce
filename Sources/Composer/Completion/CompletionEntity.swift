/// Somebody or something that completion offers (HKW-36).
public struct CompletionEntity: Identifiable, Hashable, Sendable, Codable {
    /// The identifier in the host's world; rows of one identifier are shown once, rows without one never (HKW-48).
    public var id: String
    /// What the mention means that it leaves; nil is an entity that only the host knows, by ``id``.
    public var target: MentionTarget?
    /// What the row shows, and what acceptance inserts behind the prefix.
    public var name: String
    /// A shorter form that Backspace may leave of the mention (HKW-58).
    public var short: String?
    /// What tells entities of like names apart.
    public var detail: String?
    /// Plain text that takes the whole token's place, prefix and all, such as an emoji; nil inserts the name.
    public var replacement: String?
    /// What of ``name`` met the query and is drawn bold, in UTF-16 units and in order (MIB-34).
    public var matched: [TextRange]
    /// What else the host knows of it, and gets back with what was accepted (HKW-36, MIB-29). The composer reads none of it.
    public var metadata: [String: String] = [:]

    public init(
        id: String, name: String, target: MentionTarget? = nil, short: String? = nil, detail: String? = nil,
        replacement: String? = nil,
        matched: [TextRange] = []
    ) {
        self.id = id
        self.name = name
        self.target = target
        self.short = short
        self.detail = detail
        self.replacement = replacement
        self.matched = matched
    }
}
