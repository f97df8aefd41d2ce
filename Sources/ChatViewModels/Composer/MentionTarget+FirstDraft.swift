import Composer

nonisolated extension MentionTarget {
    /// Converts a mention in the first draft format, which stored the completion source's identifier.
    init(firstDraft entityID: String, _ text: String) {
        switch entityID {
        case Self.everyoneID: self = .everyone
        case let id where id.hasPrefix("!") || id.hasPrefix("#") || text.hasPrefix("#"): self = .room(id)
        default: self = .member(entityID)
        }
    }
}
