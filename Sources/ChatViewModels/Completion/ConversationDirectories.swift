public import ChatCore
public import Composer

/// The members of a room, for `@`.
public nonisolated enum MemberDirectory {
    /// Those who are there, without oneself; the index tells apart who shares a name.
    ///
    /// - Parameter everyone: what the row that names all of them says, if there is one. It is there only where it
    ///   makes sense: among more than one other.
    public static func index(of members: [Member], everyone: String?) -> CompletionIndex {
        var entities: [CompletionEntity] = []
        entities.reserveCapacity(members.count + 1)
        for member in members where !member.hasLeft && member.kind != .own {
            let id = member.id.rawValue
            // Where two share a name the row tells them apart; the message says the name alone.
            let suffix = " (\(id))"
            let isDisambiguated = member.displayName.hasSuffix(suffix)
            let name = isDisambiguated ? String(member.displayName.dropLast(suffix.count)) : member.displayName
            entities.append(
                CompletionEntity(
                    id: id, name: name, target: .member(id), short: shortForm(of: name),
                    detail: isDisambiguated ? id : nil))
        }
        if let everyone, entities.count > 1 {
            entities.append(
                CompletionEntity(
                    id: MentionTarget.everyoneID, name: "room", target: .everyone, detail: everyone))
        }
        return CompletionIndex(entities, disambiguatesNames: true)
    }

    /// The first name, if there is more than that (HKW-58).
    static func shortForm(of name: String) -> String? {
        let first = String(name.prefix { !$0.isWhitespace })
        return first.isEmpty || first == name ? nil : first
    }
}

/// The rooms of an account, for `#`.
public nonisolated enum RoomDirectory {
    /// In the order of the list, those of one name told apart. Others find a room by its address alone.
    public static func index(of rooms: [RoomListViewModel.Row]) -> CompletionIndex {
        CompletionIndex(
            rooms.map { room in
                let id = room.address ?? room.id.rawValue
                return CompletionEntity(
                    id: id, name: room.name, target: .room(id, via: servers(of: id)), detail: room.address)
            }, disambiguatesNames: true)
    }

    /// Who can be asked to let somebody in by an identifier: the server that made the room. An address names its own.
    private static func servers(of id: String) -> [String] {
        guard id.hasPrefix("!"), let colon = id.firstIndex(of: ":") else { return [] }
        return [String(id[id.index(after: colon)...])]
    }
}
