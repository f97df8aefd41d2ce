public import ChatCore

/// The texts above the messages of an open room, and in their place while there are none.
public nonisolated struct ConversationHeader: Equatable, Sendable {
    public var name: String
    public var kind: Room.Kind
    public var headline: RoomHeadline
    /// The number of known joined members other than the user.
    public var otherCount: Int
    public var isEncrypted: Bool

    public init(
        name: String, kind: Room.Kind, headline: RoomHeadline = RoomHeadline(), otherCount: Int = 0,
        isEncrypted: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.headline = headline
        self.otherCount = otherCount
        self.isEncrypted = isEncrypted
    }

    /// The topic, or else the member count; empty for direct chats, where the title suffices.
    public func subtitle(_ translator: Translator) -> String {
        if let topic = headline.topic { return topic }
        if kind == .direct || kind == .guide { return "" }
        if isAlone { return translator("Only you") }
        return translator.plural("{count} member", "{count} members", memberCount)
    }

    /// What a screen reader says of the title.
    public func accessibleTitle(_ translator: Translator) -> String {
        [name, subtitle(translator), isEncrypted ? translator("Encrypted") : ""].filter { !$0.isEmpty }.joined(
            separator: ", ")
    }

    /// What the composer shows while it is empty.
    public func placeholder(_ translator: Translator) -> String {
        if isEncrypted { return translator("Encrypted message…") }
        return kind == .notes || isAlone
            ? translator("Write a message…") : translator("Message {room}…", ["room": name])
    }

    /// Whether the user is the only member, as far as known.
    private var isAlone: Bool { kind != .direct && kind != .guide && memberCount == 1 }
    private var memberCount: Int { max(headline.memberCount ?? 0, otherCount + 1) }

    public func emptyTitle(_ translator: Translator) -> String {
        kind == .notes ? translator("Notes") : name
    }

    public func emptyDescription(_ translator: Translator) -> String {
        kind == .notes
            ? translator("Notes stay on this computer.") : translator("No messages yet")
    }
}
