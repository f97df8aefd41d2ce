/// The reactions of a message that its row shows: anybody may add any number of them.
public nonisolated struct ShownReactions: Equatable, Sendable {
    static let limit = 20

    /// In their order. The user's own ones come before others in the choice, so that they can be removed.
    public let reactions: [MessageItem.Reaction]
    /// The number of the other ones.
    public let more: Int

    public init(_ all: [MessageItem.Reaction]) {
        guard all.count > Self.limit else {
            (reactions, more) = (all, 0)
            return
        }
        // The number of the others has a place, too.
        let own = all.indices.filter { all[$0].isOwn }
        let others = all.indices.filter { !all[$0].isOwn }
        reactions = (own + others).prefix(Self.limit - 1).sorted().map { all[$0] }
        more = all.count - reactions.count
    }
}
