public import ChatCore
public import Composer

/// The members of a room, for `@`.
public nonisolated enum MemberDirectory {
    /// The identifier of the row that names everyone in the room.
    public static let everyone = "@room"

    /// Those who are there, without oneself; the index tells apart who shares a name.
    ///
    /// - Parameter everyone: what the row that names all of them says, if there is one. It is there only where it
    ///   makes sense: among more than one other.
    public static func index(of members: [Member], everyone: String?) -> CompletionIndex {
        var entities: [CompletionEntity] = []
        entities.reserveCapacity(members.count + 1)
        for member in members where !member.hasLeft && member.kind != .own {
            let first = String(member.displayName.prefix { !$0.isWhitespace })
            entities.append(
                CompletionEntity(
                    id: member.id.rawValue, name: member.displayName, short: first == member.displayName ? nil : first))
        }
        if let everyone, entities.count > 1 {
            entities.append(CompletionEntity(id: Self.everyone, name: "room", detail: everyone))
        }
        return CompletionIndex(entities, tellsApart: true)
    }
}

/// The rooms of an account, for `#`.
public nonisolated enum RoomDirectory {
    /// In the order of the list, those of one name told apart. Others find a room by its address alone.
    public static func index(of rooms: [RoomListViewModel.Row]) -> CompletionIndex {
        CompletionIndex(
            rooms.map { CompletionEntity(id: $0.address ?? $0.id.rawValue, name: $0.name, detail: $0.address) },
            tellsApart: true)
    }
}
