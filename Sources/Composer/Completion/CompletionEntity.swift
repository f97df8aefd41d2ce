/// A suggestion of completion: a user, room, emoji or other entity (HKW-36).
public struct CompletionEntity: Identifiable, Hashable, Sendable, Codable {
    /// The host's identifier. Of entities with equal identifiers only the first is shown; entities with an empty one
    /// are dropped (HKW-48).
    public var id: String
    /// The target of the resulting mention; `nil` for an entity that only the host can resolve, by ``id``.
    public var target: MentionTarget?
    /// The text of the row, and what acceptance inserts after the prefix.
    public var name: String
    /// A shorter form that Backspace reduces the mention to (HKW-58).
    public var short: String?
    /// Disambiguates entities with similar names.
    public var detail: String?
    /// Plain text, such as an emoji, that replaces the whole token including its prefix; `nil` inserts the name.
    public var replacement: String?
    /// The parts of ``name`` that match the query and are drawn bold, sorted (MIB-34).
    public var matched: [TextRange]
    /// Host-defined data, returned on acceptance (HKW-36, MIB-29). The composer doesn't read it.
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
