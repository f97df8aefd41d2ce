public import ChatCore
import ChatStore
import Foundation
import JSONReading

/// Conversations for two.
extension MatrixBackend {
    public func openDirect(with user: String) async throws -> RoomID {
        guard case .user(let user)? = ChatAddress(user), user != ownUserID.rawValue else { throw ChatError.notFound }
        // Another program of the user's may have begun one a moment ago.
        let existing = try await asking { DirectRooms(.object(try await client.directRooms(of: ownUserID))) }
        for room in existing.rooms(with: user) {
            // One that was left, by either, is none.
            guard let members = try? await store.members(of: room), members.contains(where: { $0.id == ownUserID })
            else {
                continue
            }
            let membership = try? await client.membership(of: user, in: room)
            if membership.map({ ["join", "invite"].contains($0) }) ?? true { return room }
        }
        // Whoever waits for an answer gets it.
        if let waiting = invited.first(where: { $0.isDirect && $0.inviter?.rawValue == user }) {
            try await accept(waiting.room)
            return waiting.room
        }
        let room = try await asking { try await client.createDirectRoom(with: user) }
        await noteDirect(room, with: user)
        try await enter(room, name: user)
        return room
    }

    /// Marks a room as one for two, here and for the user's other programs. The room is there, marked or not.
    func noteDirect(_ room: RoomID, with user: String) async {
        guard let content = try? await client.directRooms(of: ownUserID),
            let noted = DirectRooms(.object(content)).adding(room, with: user)
        else { return }
        directRooms = noted
        try? await client.setDirectRooms(noted.json.object ?? [:], of: ownUserID)
    }
}
