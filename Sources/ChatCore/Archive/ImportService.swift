public import Foundation

/// A message from another program.
public struct ImportedMessage: Equatable, Sendable {
    /// Unique in its room.
    public var id: MessageID
    public var sender: MemberID
    /// As Markdown where nothing but the text is told.
    public var text: Wording
    public var sentAt: Date
    public var kind: Message.Kind
    public var replyTo: MessageID?
    public var editedAt: Date?
    public var attachments: [MediaReference]

    public init(
        id: MessageID, sender: MemberID, text: Wording, sentAt: Date, kind: Message.Kind = .text,
        replyTo: MessageID? = nil, editedAt: Date? = nil, attachments: [MediaReference] = []
    ) {
        self.id = id
        self.sender = sender
        self.text = text
        self.sentAt = sentAt
        self.kind = kind
        self.replyTo = replyTo
        self.editedAt = editedAt
        self.attachments = attachments
    }
}

/// What became of a message later.
public struct ImportedChange: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// An emoji or a short text under it.
        case reaction(String)
        /// What it says since. Only its sender can have said so.
        case edit(Wording)
    }

    public var message: MessageID
    public var member: MemberID
    public var at: Date
    public var kind: Kind

    public init(message: MessageID, member: MemberID, at: Date, kind: Kind) {
        self.message = message
        self.member = member
        self.at = at
        self.kind = kind
    }
}

/// Takes conversations in, out of sight until they are whole.
public protocol ImportService: Sendable {
    /// The user, in each room.
    var importingMember: Member { get async }
    /// Makes a room that nobody sees yet; after the end of the process it is removed.
    ///
    /// - Parameter source: what the export calls the conversation among all of its kind; nil if it does not say.
    func startImport(of source: String?) async throws -> RoomID
    /// Adds messages, oldest first, after those added before. One whose identifier the room has is left out.
    ///
    /// - Parameter members: those that were not named before, or have another name now.
    /// - Returns: how many were added.
    func addImported(_ messages: [ImportedMessage], by members: [Member], to room: RoomID) async throws -> Int
    /// Applies changes in their order to messages that were added before.
    ///
    /// - Parameter members: those that were not named before.
    /// - Returns: those that had no effect: of messages that the room does not have, or by others than who may.
    func applyImported(
        _ changes: [ImportedChange], by members: [Member], to room: RoomID
    ) async throws -> [ImportedChange]
    /// Which of the conversations were imported before, by what they are called or by their messages.
    func earlierImports(of rooms: [RoomID]) async throws -> [EarlierImport]
    /// Shows the rooms, or puts what is new in them into others, in one step: all of them or none. Those that were put
    /// into others are to be discarded.
    ///
    /// - Returns: how many messages each of the others got, by the room that they were in.
    func finishImport(_ rooms: [FinishedImport]) async throws -> [RoomID: Int]
    /// Removes rooms that were not shown.
    func discardImport(_ rooms: [RoomID]) async
}
