import ChatCore
import ChatStore

/// Edits that could not be read: their relation is not encrypted.
struct SealedEdits: Sendable {
    private static let pageSize = 500

    let store: ChatStore

    func all(in room: RoomID) async throws -> [UnreadableEdit] {
        var edits: [UnreadableEdit] = []
        var last: MessageID?
        while true {
            let page = try await store.sealedChanges(in: room, after: last, limit: Self.pageSize)
            guard let end = page.last else { return edits }
            edits += page.compactMap { sealed in
                guard let event = sealed.matrixEvent, let target = event.editedMessage else { return nil }
                return UnreadableEdit(of: target, by: event.sender, sentAt: event.sentAt, reason: sealed.reason)
            }
            last = end.event
        }
    }
}
