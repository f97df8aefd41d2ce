public import ChatCore
import ChatStore
import Foundation
import JSONReading

/// Direct chats.
extension MatrixBackend {
    public func openDirect(with user: String) async throws -> RoomID {
        guard case .user(let user)? = ChatAddress(user), user != ownUserID.rawValue else { throw ChatError.notFound }
        // Another client of the user may have created a direct chat since the last sync.
        let existing = try await asking { DirectRooms(.object(try await client.directRooms(of: ownUserID))) }
        for room in existing.rooms(with: user) {
            // A room that either member has left is not reused; nor is one that cannot be read.
            guard let members = try? await store.members(of: room), members.contains(where: { $0.id == ownUserID })
            else {
                continue
            }
            // Without an answer, rather reuse the room than make another one.
            let membership = try? await client.membership(of: user, in: room)
            if membership.map({ ["join", "invite"].contains($0) }) ?? true { return room }
        }
        // Accept a pending invitation from that user instead of creating another room.
        if let waiting = invited.first(where: { $0.isDirect && $0.inviter?.rawValue == user }) {
            try await accept(waiting.room)
            return waiting.room
        }
        let room = try await asking { try await client.createDirectRoom(with: user) }
        await noteDirect(room, with: user)
        try await enter(room, name: user)
        return room
    }

    /// Adds a room to `m.direct`. Errors are ignored: the room works without being listed.
    func noteDirect(_ room: RoomID, with user: String) async {
        guard let content = try? await client.directRooms(of: ownUserID),
            let noted = DirectRooms(.object(content)).adding(room, with: user)
        else { return }
        accountData.directRooms = noted
        try? await client.setDirectRooms(noted.json.object ?? [:], of: ownUserID)
    }
}
