public import ChatCore
import ChatStore

extension LocalBackend {
    public func react(_ text: String, isAdded: Bool, to message: MessageID, in room: RoomID) async throws {
        guard ChatLimits.isValidReaction(text) else { throw ChatError.invalidMessage }
        try await serialized {
            let changed = try await store.setReaction(
                text, isAdded: isAdded, to: message, in: room, by: Self.ownUserID, at: now())
            if let changed { publish(.changed([changed]), in: room) }
        }
    }

    public func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        try await store.revisions(of: message, in: room)
    }
}
