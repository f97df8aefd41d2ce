import ChatCore

/// The display name of a room with neither a name nor an alias, made of its members' names (specification, calculating
/// the display name for a room).
struct NamelessRoom {
    private static let maxNames = 5

    /// The user, whose own name is omitted.
    let ownUserID: MemberID
    /// Current and former members, with their current names.
    private let members: [MemberID: Member]
    private let order: [MemberID]

    /// - Parameter changed: Members that are new or differ from `storedMembers`.
    init(ownUserID: MemberID, storedMembers: [Member], changed: [Member]) {
        self.ownUserID = ownUserID
        var members: [MemberID: Member] = [:]
        var order: [MemberID] = []
        for member in storedMembers + changed where member.id != ownUserID {
            if members.updateValue(member, forKey: member.id) == nil { order.append(member.id) }
        }
        self.members = members
        self.order = order
    }

    /// Returns the room's display name.
    /// - Parameters:
    ///   - heroes: The heroes of this update, or `nil` if it has none.
    ///   - storedHeroes: The heroes of earlier updates.
    /// - Returns: `nil` if no other member is known.
    func name(heroes: [RoomUpdate.Hero]?, storedHeroes: [MemberID]) -> String? {
        let heroNames = (heroes ?? []).filter { $0.id != ownUserID }.map { $0.name ?? name(of: $0.id) }
        let storedHeroes = storedHeroes.filter { $0 != ownUserID }
        // Fall back to heroes who have left or are only invited.
        let candidates = [
            heroNames, storedHeroes.filter { members[$0]?.hasLeft != true }.map(name),
            order.filter { members[$0]?.hasLeft == false }.map(name), storedHeroes.map(name),
        ]
        return candidates.first { !$0.isEmpty }.map { names in
            String(names.prefix(Self.maxNames).joined(separator: ", ").prefix(ChatLimits.roomNameLength))
        }
    }

    private func name(of member: MemberID) -> String { members[member]?.displayName ?? member.rawValue }
}
