public import ChatCore
public import Composer

/// The members of a room, for `@`.
public nonisolated enum MemberDirectory {
    /// The joined members other than the user; members with the same name are disambiguated.
    ///
    /// - Parameter everyone: the description of the row that mentions everyone, or `nil` for none. The row appears only
    ///   if there are at least two other members.
    public static func index(of members: [Member], everyone: String?) -> CompletionIndex {
        var entities: [CompletionEntity] = []
        entities.reserveCapacity(members.count + 1)
        for member in members where !member.hasLeft && member.kind != .own {
            let id = member.id.rawValue
            // The row shows the disambiguating suffix; the message contains only the name.
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

    /// The first word of a name that has several (HKW-58).
    static func shortForm(of name: String) -> String? {
        let first = String(name.prefix { !$0.isWhitespace })
        return first.isEmpty || first == name ? nil : first
    }
}

/// The rooms of an account, for `#`.
public nonisolated enum RoomDirectory {
    /// Rooms in list order, disambiguated by name. Other users can find a room only by its address.
    public static func index(of rooms: [RoomListViewModel.Row]) -> CompletionIndex {
        CompletionIndex(
            rooms.map { room in
                let id = room.address ?? room.id.rawValue
                return CompletionEntity(
                    id: id, name: room.name, target: .room(id, via: servers(of: id)), detail: room.address)
            }, disambiguatesNames: true)
    }

    /// The `via` servers for a room ID: its server name. An alias names its server itself.
    private static func servers(of id: String) -> [String] {
        guard id.hasPrefix("!"), let colon = id.firstIndex(of: ":") else { return [] }
        return [String(id[id.index(after: colon)...])]
    }
}
