public import Foundation

/// A message from another program.
public struct ImportedMessage: Equatable, Sendable {
    /// Unique in its room.
    public var id: MessageID
    public var sender: MemberID
    /// As Markdown.
    public var text: String
    public var sentAt: Date
    public var kind: Message.Kind
    public var replyTo: MessageID?
    public var editedAt: Date?
    public var attachments: [MediaReference]

    public init(
        id: MessageID, sender: MemberID, text: String, sentAt: Date, kind: Message.Kind = .text,
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

/// Takes conversations in, out of sight until they are whole.
public protocol ImportService: Sendable {
    /// The user, in each room.
    var importingMember: Member { get async }
    /// Makes a room that nobody sees yet; after the end of the process it is removed.
    func beginImport() async throws -> RoomID
    /// Adds messages, oldest first, after those added before. One whose identifier the room has is left out.
    ///
    /// - Parameter members: those that were not named before, or have another name now.
    /// - Returns: how many were added.
    func addImported(_ messages: [ImportedMessage], by members: [Member], to room: RoomID) async throws -> Int
    /// Shows the rooms, under these names, in one step: all of them or none.
    func finishImport(_ rooms: [(room: RoomID, name: String)]) async throws
    /// Removes rooms that were not shown.
    func discardImport(_ rooms: [RoomID]) async
}
