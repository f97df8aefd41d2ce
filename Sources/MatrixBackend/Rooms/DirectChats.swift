import ChatCore
import ChatStore

/// Finds the direct chat with a user, or creates one.
struct DirectChats: Sendable {
    let client: MatrixClient
    let store: ChatStore
    let ownUserID: MemberID
    let list: DirectRoomList
    let invitations: ValueFeed<[Invitation]>
    let entry: RoomEntry
    let keys: AccountEncryption
    let privacy: PrivacyPreference

    func open(with user: String) async throws -> RoomID {
        guard case .user(let user)? = ChatAddress(user), user != ownUserID.rawValue else { throw ChatError.notFound }
        if let room = try await existingRoom(with: user) { return room }
        // Accept a pending invitation from that user instead of creating another room.
        if let waiting = invitations.value.first(where: { $0.isDirect && $0.inviter?.rawValue == user }) {
            try await entry.accept(waiting.room)
            return waiting.room
        }
        // Keys that cannot be opened must not lead to an unencrypted chat. Only a program without encryption creates
        // one.
        let isEncrypted = privacy.current(of: ownUserID).encryptsDirectChats && keys.condition != .off(.notBuilt)
        if isEncrypted { try keys.requireEncryption() }
        let room = try await asking { try await client.createDirectRoom(with: user, isEncrypted: isEncrypted) }
        if isEncrypted { try await keys.noteEncrypted(new: room) }
        await list.add(room, with: user)
        try await entry.enter(room, name: user)
        return room
    }

    private func existingRoom(with user: String) async throws -> RoomID? {
        for room in try await asking({ try await list.current() }).rooms(with: user) {
            // A room that either member has left is not reused; nor is one that cannot be read.
            guard let members = try? await store.members(of: room), members.contains(where: { $0.id == ownUserID })
            else {
                continue
            }
            // If the server does not answer, reuse the room rather than create another one.
            let membership = try? await client.membership(of: user, in: room)
            if membership.map({ ["join", "invite"].contains($0) }) ?? true { return room }
        }
        return nil
    }
}
