import ChatCore
import ChatStore

/// Requests single messages. They are not stored, because their neighbors are unknown.
struct MessageFetcher: Sendable {
    let client: MatrixClient
    let context: AccountContext
    let opener: EventOpener

    /// - Returns: `nil` if the server does not have it, or it cannot be read here.
    func message(_ id: MessageID, in room: RoomID) async throws -> Message? {
        // A server may answer with another event, which can be decrypted as well.
        guard let found = try await client.event(id, in: room), found.id == id,
            !context.ignoredUsers.contains(found.sender)
        else { return nil }
        let event = try await opener.opened([found], in: room)[0]
        let parser = EventParser(ownUserID: context.ownUserID, translator: context.translator)
        let new: NewMessage
        let isDeleted: Bool
        switch parser.event(event) {
        case .message(let read): (new, isDeleted) = (read, false)
        case .deleted(let read): (new, isDeleted) = (read, true)
        case .change, .silent, .redacted, .sealed, nil: return nil
        }
        var message = Message(
            id: id, roomID: room, sender: new.sender, content: new.content, sentAt: new.sentAt, position: .min,
            replyTo: new.replyTo, isDeleted: isDeleted)
        message.trust = new.trust
        switch parser.bundledEdit(of: event) {
        case .change(let change)?: apply(change, to: &message)
        case .sealed(let ciphertext)?: message.unreadableEdit = ciphertext.reason
        case .message?, .deleted?, .silent?, .redacted?, nil: break
        }
        return message
    }

    private func apply(_ change: MessageChange, to message: inout Message) {
        guard case .edit(let wording) = change.kind else { return }
        message.edit(to: wording, at: change.at)
        message.kind = change.content?.kind ?? message.kind
        message.attachments = change.content?.attachments ?? message.attachments
        message.trust = MessageTrust.worst(of: message.trust, change.trust)
    }
}
