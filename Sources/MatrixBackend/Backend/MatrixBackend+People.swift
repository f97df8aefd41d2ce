public import ChatCore
import ChatStore
import Foundation
import JSONReading

/// Rooms that are made with all that belongs to them, and people whom the server knows.
extension MatrixBackend {
    private static let mostPeople = 20

    @discardableResult
    public func createRoom(_ request: RoomRequest) async throws -> RoomID {
        guard let name = ChatLimits.roomName(from: request.name) else { throw ChatError.invalidName }
        guard request.topic?.count ?? 0 <= ChatLimits.topicLength,
            request.address.map(RoomRequest.isValidAddress) ?? true
        else { throw ChatError.invalidName }
        let room = try await asking { try await client.createRoom(request, named: name) }
        try await enter(room, name: name, isNamed: true)
        return room
    }

    public func people(matching text: String) async throws -> [Person] {
        let found = try await asking { try await client.people(matching: text, limit: Self.mostPeople) }
        return found.filter { $0.id != own }
    }

    /// Asks the server who is there, and keeps it: what completes names knows all of them from then on.
    public func roster(of room: RoomID) async throws -> RoomRoster {
        _ = try await store.gaps(in: room)
        let (events, state) = try await asking {
            (try await client.members(of: room), try await roomState(of: room))
        }
        let joined = RoomStateReader(own: own, state: events).members.filter { !$0.hasLeft }
        try await inTurn {
            guard (try? await store.gaps(in: room)) != nil else { return }
            let batch = RoomBatch(id: room, createdAt: now(), members: joined)
            for outcome in try await store.apply(SyncBatch(rooms: [batch])) { await tell(outcome) }
        }
        let powers = state.powers
        let invited = events.filter { $0.content["membership"]?.string == "invite" }.compactMap { event in
            event.stateKey.map { MemberID($0) }
        }
        let names = MemberNames(RoomStateReader(own: own, state: events).members)
        let entries = RoomStateReader(own: own, state: events).members.filter { member in
            !member.hasLeft || invited.contains(member.id)
        }.map { member in
            RoomRoster.Entry(
                names.named(member), role: powers.role(of: member.id), isInvited: member.hasLeft,
                canBeRemoved: powers.mayRemove(member.id, own))
        }
        var permissions: RoomRoster.Permissions = []
        if powers.maySend(state: "m.room.name", own) { permissions.insert(.rename) }
        if powers.maySend(state: "m.room.topic", own) { permissions.insert(.setTopic) }
        if powers.mayInvite(own) { permissions.insert(.invite) }
        if powers.mayNotifyEveryone(own) { permissions.insert(.notifyEveryone) }
        return RoomRoster(entries: entries, permissions: permissions, address: state.address)
    }

    private func roomState(of room: RoomID) async throws -> (powers: PowerLevels, address: String?) {
        let levels = try await client.state("m.room.power_levels", of: room)
        let alias = try await client.state("m.room.canonical_alias", of: room)
        let address = RoomStateReader.line(alias?["alias"]?.string)
        var creation: (sender: MemberID, content: JSONValue)?
        if let content = try await client.state("m.room.create", of: room),
            let creator = RoomCreation(try await store.setting(RoomStateReader.creationSetting, of: room))?.creator
        {
            creation = (creator, content)
        }
        return (PowerLevels(levels, creation: creation), address.isEmpty ? nil : address)
    }
}
