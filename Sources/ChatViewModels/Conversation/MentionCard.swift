public import ChatCore
public import Composer

/// What the card of a mention shows, by the mention's target and regardless of its text (HKW-56).
public nonisolated struct MentionCard: Equatable, Sendable {
    /// What the card's button opens.
    public nonisolated enum Opening: Equatable, Sendable {
        /// A direct chat with the user of this ID.
        case directChat(String)
        /// The room with this ID or address.
        case room(String)

        /// What is opened: the Matrix ID of the user or the room, or the room's address.
        public var address: String {
            switch self {
            case .directChat(let id), .room(let id): id
            }
        }

        /// The button's label, with a mnemonic.
        public func button(_ translator: Translator) -> String {
            switch self {
            case .directChat: translator("_Message")
            case .room: translator("_Open")
            }
        }
    }

    public var name: String
    /// Disambiguates the name; empty for none.
    public var identifier = ""
    public var avatarURI: String?
    /// Whether the mention is of everyone in the room.
    public var isEveryone = false
    public var opening: Opening?

    /// What a screen reader says of the card.
    public var accessibleText: String { [name, identifier].filter { !$0.isEmpty }.joined(separator: ", ") }

    /// - Parameters:
    ///   - members: the members of the room that the mention is in.
    ///   - kind: the kind of that room.
    ///   - room: returns what is known of a room by its ID or address.
    /// - Returns: `nil` for a mention of neither a person nor a room.
    public init?(
        _ mention: Mention, members: [Member], kind: Room.Kind,
        room: (String) -> (name: String?, avatarURI: String?), translator: Translator
    ) {
        let written = String(mention.text.drop { $0 == "@" || $0 == "#" })
        switch mention.target {
        case .everyone:
            name = translator("Everyone in this room")
            isEveryone = true
        case .member(let id):
            let member = members.first { $0.id.rawValue == id }
            name = member?.displayName ?? written
            identifier = id
            avatarURI = member?.avatar
            // In a direct chat, the chat with this member is already open.
            if member?.kind != .own, kind != .direct { opening = .directChat(id) }
        case .room(let id, _):
            let room = room(id)
            name = room.name ?? written
            identifier = id
            avatarURI = room.avatarURI
            opening = .room(id)
        case .custom: return nil
        }
    }
}
