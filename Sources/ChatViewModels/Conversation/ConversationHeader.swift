public import ChatCore

/// The texts above the messages of an open room, and in place of them while there are none.
public nonisolated struct ConversationHeader: Equatable, Sendable {
    public var name: String
    public var kind: Room.Kind
    public var headline: RoomHeadline
    /// The number of known joined members other than the user.
    public var otherCount: Int

    public init(name: String, kind: Room.Kind, headline: RoomHeadline = RoomHeadline(), otherCount: Int = 0) {
        self.name = name
        self.kind = kind
        self.headline = headline
        self.otherCount = otherCount
    }

    /// The topic, or else the member count; empty for direct chats, where the title suffices.
    public func subtitle(_ translator: Translator) -> String {
        if let topic = headline.topic { return topic }
        if kind == .direct || kind == .guide { return "" }
        let count = max(headline.memberCount ?? 0, otherCount + 1)
        if count == 1 { return translator("Only you") }
        return translator.plural("{count} member", "{count} members", count)
    }

    public func emptyTitle(_ translator: Translator) -> String {
        kind == .notes ? translator("Notes") : name
    }

    public func emptyDescription(_ translator: Translator) -> String {
        kind == .notes
            ? translator("Notes stay on this computer.") : translator("No messages yet")
    }
}
