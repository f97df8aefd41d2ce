import ChatCore
import ChatStore
import JSONReading

/// The members of rooms, and other users of the server.
struct RoomMemberships: Sendable {
    private static let maxUsers = 20

    let client: MatrixClient
    let context: AccountContext
    let writer: RoomWriter
    let keys: AccountEncryption

    private var store: ChatStore { writer.store }
    private var ownUserID: MemberID { context.ownUserID }

    func users(matching text: String) async throws -> [User] {
        let found = try await asking { try await client.users(matching: text, limit: Self.maxUsers) }
        return found.filter { $0.id != ownUserID }
    }

    /// Invites a user.
    /// - Parameter address: A user ID, `@name:server`.
    func invite(_ address: String, to room: RoomID) async throws {
        guard address.hasPrefix("@"), address.contains(":") else { throw ChatError.notFound }
        try await store.requireRoom(room)
        do {
            try await client.invite(address, to: room)
        } catch {
            if (error as? MatrixError)?.excludesDelivery != true { await noteUnreportedChange(of: room) }
            throw ChatError.translated(error)
        }
        await noteUnreportedChange(of: room)
    }

    /// Lets an invited user read what is sent before a sync reports the invitation, and a removed one no more. A request
    /// that failed or was canceled may have reached the server as well.
    private func noteUnreportedChange(of room: RoomID) async {
        // In a task of its own, which is not canceled along with the caller. If the storage fails, the sync reports the
        // change, which was requested all the same.
        await Task { [keys] in try? await keys.noteUnreportedChange(of: room) }.value
    }

    /// Removes another member, or revokes an invitation.
    /// - Throws: ``ChatError/notPermitted`` for the user, who leaves instead, or if the server denies it.
    func remove(_ member: MemberID, from room: RoomID) async throws {
        guard member != ownUserID else { throw ChatError.notPermitted }
        guard try await isInside(member, room) else { throw ChatError.notFound }
        let joined = try await store.stateOrigin(of: .member(member), in: room)
        do {
            try await client.remove(member, from: room)
        } catch {
            if (error as? MatrixError)?.excludesDelivery != true { await noteUnreportedChange(of: room) }
            throw ChatError.translated(error)
        }
        // Stop sharing keys with them at once, without waiting for the sync, and although the caller is canceled.
        try await Task { [keys] in try await keys.noteGone(member, from: room, ending: joined) }.value
        try await writer.serialized {
            // A sync may have stored that they left, or the user may have left, and an invited user is no member.
            guard try await store.hasRoom(room), try await store.member(member, of: room)?.hasLeft == false,
                // While the response was on its way, they may have been invited and joined again.
                try await store.stateOrigin(of: .member(member), in: room) == joined
            else { return }
            let members = try await store.removeMember(member, from: room)
            writer.timelines.publish(members.filter { $0.id == member }, in: room)
            writer.rooms.refresh(room)
        }
    }

    /// Whether a user is a member or invited. Only current members are stored as such, so others are requested.
    private func isInside(_ member: MemberID, _ room: RoomID) async throws -> Bool {
        if try await store.member(member, of: room)?.hasLeft == false { return true }
        let membership = try await asking { try await client.membership(of: member.rawValue, in: room) }
        return membership == "invite" || membership == "join"
    }

    /// Requests the joined members and stores them, so name completion knows all of them. Stored members who left are
    /// missing from the server's list: a sync does not report all who left within a gap.
    func members(of room: RoomID) async throws -> RoomMembers {
        let before = try await stored(in: room)
        let (list, state) = try await asking {
            (try await client.members(of: room), try await roomState(of: room))
        }
        let (events, joined) = list
        let members = ParsedRoomState(ownUserID: ownUserID, state: events).members
        try await writer.serialized {
            guard try await store.hasRoom(room) else { return }
            try await learn(state.creation, of: room)
            // What a sync has changed since is newer: it would never be corrected, as this list has no one who left.
            let now = try await stored(in: room)
            let unchanged = members.filter { !$0.hasLeft && now[$0.id] == before[$0.id] }
            let left = Self.missing(now.values.filter { $0 == before[$0.id] }, in: joined, ownUserID)
            let batch = RoomBatch(id: room, createdAt: context.now(), members: unchanged + left)
            try await writer.write(SyncBatch(rooms: [batch]))
        }
        let invited = events.filter { $0.content["membership"]?.string == "invite" }.compactMap { event in
            event.stateKey.map { MemberID($0) }
        }
        return RoomMembers(
            entries: entries(members, invited: invited, state.powers), permissions: permissions(state.powers),
            address: state.address)
    }

    /// Returns the current members who are not in the server's list, as having left.
    private static func missing(
        _ members: [Member], in joined: Set<MemberID>, _ ownUserID: MemberID
    ) -> [Member] {
        // A list without the user cannot be right.
        guard joined.contains(ownUserID) else { return [] }
        let missing = members.filter { !$0.hasLeft && !joined.contains($0.id) }
        return missing.sorted { $0.id.rawValue < $1.id.rawValue }.map { member in
            var member = member
            member.hasLeft = true
            return member
        }
    }

    /// Stores the creators with infinite power, which earlier versions did not.
    private func learn(_ creation: RoomState.Creation?, of room: RoomID) async throws {
        guard let creation, try await store.roomState(of: room).creation != creation else { return }
        try await store.updateRoomState(of: room) { $0.creation?.privileged = creation.privileged }
    }

    private func stored(in room: RoomID) async throws -> [MemberID: Member] {
        Dictionary(try await store.members(of: room).map { ($0.id, $0) }) { first, _ in first }
    }

    private func entries(_ members: [Member], invited: [MemberID], _ powers: PowerLevels) -> [RoomMembers.Entry] {
        let names = MemberNames(members)
        return members.filter { !$0.hasLeft || invited.contains($0.id) }.map { member in
            RoomMembers.Entry(
                names.named(member), role: powers.role(of: member.id), isInvited: member.hasLeft,
                canBeRemoved: powers.mayRemove(member.id, ownUserID))
        }
    }

    private func permissions(_ powers: PowerLevels) -> RoomMembers.Permissions {
        var permissions: RoomMembers.Permissions = []
        if powers.maySend(state: "m.room.name", ownUserID) { permissions.insert(.rename) }
        if powers.maySend(state: "m.room.topic", ownUserID) { permissions.insert(.setTopic) }
        if powers.maySend(state: "m.room.encryption", ownUserID) { permissions.insert(.encrypt) }
        if powers.mayInvite(ownUserID) { permissions.insert(.invite) }
        if powers.mayNotifyEveryone(ownUserID) { permissions.insert(.notifyEveryone) }
        return permissions
    }

    private func roomState(
        of room: RoomID
    ) async throws -> (powers: PowerLevels, creation: RoomState.Creation?, address: String?) {
        let levels = try await client.state("m.room.power_levels", of: room)
        let alias = try await client.state("m.room.canonical_alias", of: room)
        let address = ParsedRoomState.line(alias?["alias"]?.string)
        var creation: RoomState.Creation?
        if let content = try await client.state("m.room.create", of: room),
            let known = try await store.roomState(of: room).creation
        {
            creation = RoomState.Creation(by: known.creator, content, at: known.at)
        }
        return (PowerLevels(levels, creation: creation), creation, address.isEmpty ? nil : address)
    }
}
