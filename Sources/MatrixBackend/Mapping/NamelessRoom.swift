import ChatCore

/// What a room is called that has neither a name nor an address: after who is in it (specification, calculating the
/// display name for a room).
struct NamelessRoom {
    /// Under which the identifiers of those are kept after whom the server calls it.
    static let heroesSetting = "matrix.heroes"
    private static let mostNames = 5

    /// The user, who is not among those whom it is called after.
    let own: MemberID
    /// Those who are in it, or were, as they are now.
    private let members: [MemberID: Member]
    private let order: [MemberID]

    /// - Parameter changed: who is new or another than in `kept`.
    init(own: MemberID, kept: [Member], changed: [Member]) {
        self.own = own
        var members: [MemberID: Member] = [:]
        var order: [MemberID] = []
        for member in kept + changed where member.id != own {
            if members.updateValue(member, forKey: member.id) == nil { order.append(member.id) }
        }
        self.members = members
        self.order = order
    }

    /// - Parameters:
    ///   - told: whom the server names now; nil if it says nothing.
    ///   - kept: whom it named before.
    /// - Returns: nil if nobody is known to be in it.
    func name(told: [RoomUpdate.Hero]?, kept: [MemberID]) -> String? {
        let told = (told ?? []).filter { $0.id != own }.map { $0.name ?? name(of: $0.id) }
        let kept = kept.filter { $0 != own }
        // Who is only invited counts as one who left: better than nobody.
        let candidates = [
            told, kept.filter { members[$0]?.hasLeft != true }.map(name),
            order.filter { members[$0]?.hasLeft == false }.map(name), kept.map(name),
        ]
        return candidates.first { !$0.isEmpty }.map { names in
            String(names.prefix(Self.mostNames).joined(separator: ", ").prefix(ChatLimits.roomNameLength))
        }
    }

    private func name(of member: MemberID) -> String { members[member]?.displayName ?? member.rawValue }
}
