import ChatCore
import ChatStore

/// Creates, joins and leaves rooms, and accepts or declines invitations.
struct RoomEntry: Sendable {
    let client: MatrixClient
    let context: AccountContext
    let writer: RoomWriter
    let entered: EnteredRooms
    let directRooms: DirectRoomList
    let keys: AccountEncryption

    private var store: ChatStore { writer.store }

    func create(_ request: RoomRequest) async throws -> RoomID {
        guard let name = ChatLimits.roomName(from: request.name) else { throw ChatError.invalidName }
        _ = try ChatLimits.topic(from: request.topic)
        guard request.address.map(RoomRequest.isValidAddress) ?? true else { throw ChatError.invalidAddress }
        if request.isEncrypted { try keys.requireEncryption() }
        let room = try await asking { try await client.createRoom(request, named: name) }
        // Before anything can be written into the room.
        if request.isEncrypted { try await keys.noteEncrypted(new: room) }
        try await enter(room, name: name, isNamed: true)
        return room
    }

    /// Joins a room.
    /// - Parameter address: A room ID, an alias, `#name:server`, or a link to either.
    func join(_ address: String) async throws -> RoomID {
        guard let (address, via) = ChatAddress(address)?.room else { throw ChatError.notFound }
        let room = try await asking { try await client.join(address, via: via) }
        entered.note(room)
        try await enter(room, name: nil)
        return room
    }

    func leave(_ room: RoomID) async throws {
        try await store.requireRoom(room)
        let entries = entered.entryCount(of: room)
        let joined = try await ownJoin(of: room)
        do {
            try await client.leave(room)
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _), MatrixError.rejected(404, "M_UNKNOWN", _) {
            // The server has no membership to leave. Synapse says `M_UNKNOWN` of a room that it does not know.
        } catch MatrixError.rejected(403, "M_FORBIDDEN", _) {
            guard try await asking({ try await client.isOutside(room, context.ownUserID) }) else {
                throw ChatError.notPermitted
            }
        } catch {
            throw ChatError.translated(error)
        }
        try await writer.serialized {
            // While the response was on its way, the user may have entered the room again, here or elsewhere. Without a
            // known join, a sync has only brought the earlier one.
            guard entered.entryCount(of: room) == entries else { return }
            if let joined, try await ownJoin(of: room) != joined { return }
            try await writer.write(SyncBatch(rooms: [.left(room, at: context.now())]))
            // Another invitation counts, even if no sync has included the room meanwhile.
            entered.remove(room)
            writer.rooms.refresh(room)
        }
    }

    /// The event by which the user is in a stored room, if a sync has brought it.
    private func ownJoin(of room: RoomID) async throws -> MessageID? {
        try await store.stateOrigin(of: .member(context.ownUserID), in: room)
    }

    func accept(_ invitation: RoomID) async throws {
        let storedInvitation = writer.invitations.value.first { $0.room == invitation }
        // The inviter's server may lie, so that only the sync records which rooms are spaces.
        if storedInvitation?.isSpace == true { throw ChatError.spaceUnsupported }
        let room = try await performDecision(invitation) {
            // A server that is not in the room has to join through one that is, such as the inviter's.
            let via = [storedInvitation?.inviter.flatMap(MatrixLink.server)].compactMap { $0 }
            return try await client.join(invitation.rawValue, via: via)
        }
        entered.note(room)
        if let storedInvitation, storedInvitation.isDirect, let partner = storedInvitation.inviter {
            await directRooms.add(room, with: partner.rawValue)
        }
        try await enter(room, name: storedInvitation?.title)
    }

    func decline(_ invitation: RoomID) async throws {
        try await performDecision(invitation) {
            do {
                try await client.leave(invitation)
            } catch MatrixError.rejected(404, "M_UNKNOWN", _) {
                // Synapse has no invitation to the room, and does not know the room.
            }
        }
        try await forget(invitation)
    }

    /// Stores a room that the user joined or created, before the sync returns it.
    /// - Parameter isNamed: Whether the user chose `name`; otherwise the sync's name replaces it.
    /// - Throws: ``ChatError/spaceUnsupported`` for a known space, which is not stored as a room.
    func enter(_ room: RoomID, name: String?, isNamed: Bool = false) async throws {
        try await writer.serialized {
            let ownUserID = context.ownUserID
            let me = Member(id: ownUserID, displayName: ownUserID.rawValue, kind: .own)
            let known = try await store.knownRooms([KnownRoom.Request(room)], ownUserID: ownUserID)
            guard !known.spaces.contains(room) else {
                var space = RoomBatch(id: room, createdAt: context.now())
                space.isSpace = true
                try await writer.write(SyncBatch(rooms: [space]))
                writer.rooms.refresh(room)
                throw ChatError.spaceUnsupported
            }
            let isKnownRoom = known.rooms[room] != nil
            var batch = RoomBatch(
                id: room, name: isKnownRoom && !isNamed ? nil : name, createdAt: context.now(),
                members: isKnownRoom ? [] : [me])
            batch.isDirect = context.directRooms.partners[room] != nil
            if !isKnownRoom { entered.insert(room) }
            try await writer.write(SyncBatch(rooms: [batch]))
            writer.rooms.refresh(room)
        }
    }

    /// Removes an invitation that was withdrawn: it can neither be accepted nor declined. Other errors with the same
    /// status say nothing of the invitation, as when the user first has to consent to the server's terms.
    private func performDecision<T: Sendable>(_ invitation: RoomID, _ work: () async throws -> T) async throws -> T {
        do {
            return try await work()
        } catch MatrixError.rejected(403, "M_FORBIDDEN", _), MatrixError.rejected(404, "M_NOT_FOUND", _) {
            try await forget(invitation)
            throw ChatError.notFound
        } catch {
            throw ChatError.translated(error)
        }
    }

    private func forget(_ invitation: RoomID) async throws {
        try await writer.serialized {
            try await writer.write(SyncBatch(rooms: [.left(invitation, at: context.now())]))
        }
    }
}

extension MatrixClient {
    /// Whether the server no longer regards the user as a joined member, as after a ban.
    func isOutside(_ room: RoomID, _ ownUserID: MemberID) async throws -> Bool {
        do {
            return try await membership(of: ownUserID.rawValue, in: room) != "join"
        } catch MatrixError.rejected(403, "M_FORBIDDEN", _) {
            return true
        }
    }
}
