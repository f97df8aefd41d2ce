public import Foundation

/// A message from another program.
public struct ImportedMessage: Equatable, Sendable {
    /// Unique in its room.
    public var id: MessageID
    public var sender: MemberID
    /// The text, read as Markdown if it has no other form.
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

/// A later change of an imported message.
public struct ImportedChange: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// An emoji or a short text.
        case reaction(String)
        /// New content, by the message's sender.
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

/// Imports conversations, hidden until they are complete.
public protocol ImportService: Sendable {
    /// The user's membership in imported rooms.
    var importingMember: Member { get async }
    /// Creates a hidden room, which is removed if the process ends before ``finishImport(_:)``.
    ///
    /// - Parameter source: The conversation's identifier in the export, unique among exports of the same kind, or `nil`
    ///   if it has none.
    func startImport(of source: String?) async throws -> RoomID
    /// Appends messages, oldest first. Messages whose identifier the room already has are skipped.
    ///
    /// - Parameter members: Members who are new or have a new name.
    /// - Returns: The number of added messages.
    func addImported(_ messages: [ImportedMessage], by members: [Member], to room: RoomID) async throws -> Int
    /// Applies changes, in order, to messages that were added before.
    ///
    /// - Parameter members: Members who are new.
    /// - Returns: The changes that had no effect: those to unknown messages, or by members who may not make them.
    func applyImported(
        _ changes: [ImportedChange], by members: [Member], to room: RoomID
    ) async throws -> [ImportedChange]
    /// Returns the conversations that were imported before, recognized by identifier or by their messages.
    func earlierImports(of rooms: [RoomID]) async throws -> [EarlierImport]
    /// Shows the rooms, or merges their new messages into existing rooms, atomically. Discard the merged ones
    /// afterwards.
    ///
    /// - Returns: The number of messages merged, by hidden room.
    func finishImport(_ rooms: [FinishedImport]) async throws -> [RoomID: Int]
    /// Removes hidden rooms.
    func discardImport(_ rooms: [RoomID]) async
}
