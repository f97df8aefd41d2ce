public import ChatCore
import ChatStore
import Foundation
import JSONReading

/// Room creation, user search and members.
extension MatrixBackend {
    private static let maxUsers = 20

    @discardableResult
    public func createRoom(_ request: RoomRequest) async throws -> RoomID {
        guard let name = ChatLimits.roomName(from: request.name) else { throw ChatError.invalidName }
        _ = try ChatLimits.topic(from: request.topic)
        guard request.address.map(RoomRequest.isValidAddress) ?? true else { throw ChatError.invalidAddress }
        let room = try await asking { try await client.createRoom(request, named: name) }
        try await enter(room, name: name, isNamed: true)
        return room
    }

    public func users(matching text: String) async throws -> [User] {
        let found = try await asking { try await client.users(matching: text, limit: Self.maxUsers) }
        return found.filter { $0.id != ownUserID }
    }

    /// Requests the joined members and stores them, so name completion knows all of them.
    public func members(of room: RoomID) async throws -> RoomMembers {
        try await store.requireRoom(room)
        let (events, state) = try await asking {
            (try await client.members(of: room), try await roomState(of: room))
        }
        let joined = ParsedRoomState(ownUserID: ownUserID, state: events).members.filter { !$0.hasLeft }
        try await serialized {
            guard try await store.hasRoom(room) else { return }
            let batch = RoomBatch(id: room, createdAt: now(), members: joined)
            for roomChange in try await store.apply(SyncBatch(rooms: [batch])) { await publish(roomChange) }
        }
        let powers = state.powers
        let invited = events.filter { $0.content["membership"]?.string == "invite" }.compactMap { event in
            event.stateKey.map { MemberID($0) }
        }
        let names = MemberNames(ParsedRoomState(ownUserID: ownUserID, state: events).members)
        let entries = ParsedRoomState(ownUserID: ownUserID, state: events).members.filter { member in
            !member.hasLeft || invited.contains(member.id)
        }.map { member in
            RoomMembers.Entry(
                names.named(member), role: powers.role(of: member.id), isInvited: member.hasLeft,
                canBeRemoved: powers.mayRemove(member.id, ownUserID))
        }
        var permissions: RoomMembers.Permissions = []
        if powers.maySend(state: "m.room.name", ownUserID) { permissions.insert(.rename) }
        if powers.maySend(state: "m.room.topic", ownUserID) { permissions.insert(.setTopic) }
        if powers.mayInvite(ownUserID) { permissions.insert(.invite) }
        if powers.mayNotifyEveryone(ownUserID) { permissions.insert(.notifyEveryone) }
        return RoomMembers(entries: entries, permissions: permissions, address: state.address)
    }

    private func roomState(of room: RoomID) async throws -> (powers: PowerLevels, address: String?) {
        let levels = try await client.state("m.room.power_levels", of: room)
        let alias = try await client.state("m.room.canonical_alias", of: room)
        let address = ParsedRoomState.line(alias?["alias"]?.string)
        var creation: (sender: MemberID, content: JSONValue)?
        if let content = try await client.state("m.room.create", of: room),
            let creator = try await store.roomState(of: room).creation?.creator
        {
            creation = (creator, content)
        }
        return (PowerLevels(levels, creation: creation), address.isEmpty ? nil : address)
    }
}
