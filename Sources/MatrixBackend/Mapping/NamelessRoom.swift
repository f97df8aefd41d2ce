import ChatCore

/// What a room is called that has neither a name nor an address: after who is in it (specification, calculating the
/// display name for a room).
struct NamelessRoom {
    /// Under which the identifiers of those are kept after whom the server calls it.
    static let heroesSetting = "matrix.heroes"
    private static let maxNames = 5

    /// The user, who is not among those whom it is called after.
    let ownUserID: MemberID
    /// Those who are in it, or were, as they are now.
    private let members: [MemberID: Member]
    private let order: [MemberID]

    /// - Parameter changed: who is new or another than in `storedMembers`.
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

    /// - Parameters:
    ///   - heroes: whom the server names now; nil if it says nothing.
    ///   - storedHeroes: whom it named before.
    /// - Returns: nil if nobody is known to be in it.
    func name(heroes: [RoomUpdate.Hero]?, storedHeroes: [MemberID]) -> String? {
        let heroNames = (heroes ?? []).filter { $0.id != ownUserID }.map { $0.name ?? name(of: $0.id) }
        let storedHeroes = storedHeroes.filter { $0 != ownUserID }
        // Who is only invited counts as one who left: better than nobody.
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
