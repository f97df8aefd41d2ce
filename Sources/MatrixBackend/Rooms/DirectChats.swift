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
    /// One at a time: the second request for a user finds the room that the first has created.
    private let gate = SerialGate()

    init(
        client: MatrixClient, store: ChatStore, ownUserID: MemberID, list: DirectRoomList,
        invitations: ValueFeed<[Invitation]>, entry: RoomEntry, keys: AccountEncryption, privacy: PrivacyPreference
    ) {
        self.client = client
        self.store = store
        self.ownUserID = ownUserID
        self.list = list
        self.invitations = invitations
        self.entry = entry
        self.keys = keys
        self.privacy = privacy
    }

    func open(with user: String) async throws -> RoomID {
        guard case .user(let user)? = ChatAddress(user), MemberID(user) != ownUserID else { throw ChatError.notFound }
        return try await gate.run { try await findOrCreate(with: user) }
    }

    private func findOrCreate(with user: String) async throws -> RoomID {
        if let room = try await existingRoom(with: user) { return room }
        // Accept a pending invitation from that user instead of creating another room.
        if let waiting = invitations.value.first(where: { $0.isDirect && $0.inviter == MemberID(user) }) {
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
        var upgraded: RoomID?
        for room in try await asking({ try await list.current() }).rooms(with: user) {
            // A room that either member has left is not reused; nor is one that cannot be read.
            guard let members = try? await store.members(of: room), members.contains(where: { $0.id == ownUserID })
            else {
                if try await enterUnsynced(room, with: user) { return room }
                continue
            }
            // The list still has a room that was upgraded, before the one that replaces it, and both users stay in it.
            let hasNext = (try? await store.roomState(of: room))?.succession.next != nil
            if hasNext, upgraded != nil { continue }
            guard await mayBeIn(room, user) else { continue }
            if !hasNext { return room }
            upgraded = room
        }
        for room in try await store.rooms(with: MemberID(user)) where try await isUnlistedChat(room, with: user) {
            guard await mayBeIn(room, user) else { continue }
            await list.add(room, with: user)
            return room
        }
        return upgraded
    }

    /// Stores a listed room that no sync has brought yet, as shortly after signing in, if both users are in it and it
    /// was not upgraded.
    /// - Throws: If the server does not answer: another room must not be created then.
    private func enterUnsynced(_ room: RoomID, with user: String) async throws -> Bool {
        guard try await !store.hasRoom(room) else { return false }
        do {
            guard try await !client.isOutside(room, ownUserID), await mayBeIn(room, user),
                try await client.state("m.room.tombstone", of: room) == nil
            else { return false }
        } catch let error as MatrixError {
            // The list may contain anything.
            guard case .rejected = error, !error.isAboutAccount else { throw ChatError.translated(error) }
            return false
        }
        do {
            try await entry.enter(room, name: user)
        } catch ChatError.spaceUnsupported {
            return false
        }
        return true
    }

    /// If the server does not answer, a room is reused rather than another one created.
    private func mayBeIn(_ room: RoomID, _ user: String) async -> Bool {
        do {
            let membership = try await client.membership(of: user, in: room)
            // A user without any has never been in the room.
            return membership.map { ["join", "invite"].contains($0) } ?? false
        } catch {
            return true
        }
    }

    /// Whether only the two users are in a room, which has neither a name nor an alias: its mark as a direct chat, or
    /// the answer to its creation, may have been lost. One whose members the server has not counted may be a group.
    private func isUnlistedChat(_ room: RoomID, with user: String) async throws -> Bool {
        let state = try await store.roomState(of: room)
        guard state.name == nil, state.alias == nil, state.succession.next == nil, let count = state.joinedCount,
            count <= 2, state.heroes.allSatisfy({ $0 == MemberID(user) })
        else { return false }
        let members = try await store.members(of: room).filter { !$0.hasLeft }
        return Set(members.map(\.id)) == [ownUserID, MemberID(user)]
    }
}
