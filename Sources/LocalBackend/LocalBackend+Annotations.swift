public import ChatCore
import ChatStore

extension LocalBackend {
    public func react(_ text: String, isGiven: Bool, to message: MessageID, in room: RoomID) async throws {
        guard ChatLimits.isValidReaction(text) else { throw ChatError.invalidMessage }
        try await inTurn {
            let changed = try await store.setReaction(
                text, isGiven: isGiven, to: message, in: room, by: Self.ownID, at: now())
            if let changed { tell(.changed([changed]), in: room) }
        }
    }

    public func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        try await store.revisions(of: message, in: room)
    }
}
