import ChatCore

/// A room's members, including former ones, found by ID.
nonisolated struct TimelineMembers: Sendable {
    private(set) var all: [Member] = []
    private(set) var ownUserID: MemberID?
    /// The number of joined members other than the user.
    private(set) var otherCount = 0
    /// The index of each member in ``all``.
    private var indices: [MemberID: Int] = [:]

    init(_ members: [Member] = []) {
        all = members
        ownUserID = members.first { $0.kind == .own }?.id
        otherCount = members.count { $0.isOther }
        indices = Dictionary(
            members.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(id: MemberID) -> Member? { indices[id].map { all[$0] } }

    /// The display name, or the ID of a member who is unknown.
    func name(of id: MemberID) -> String { self[id]?.displayName ?? id.rawValue }

    /// Replaces these members and appends new ones. Takes time proportional to the change, not to the room's size.
    /// - Returns: each of them with its earlier state, `nil` if it is new.
    mutating func change(_ changed: [Member]) -> [(before: Member?, after: Member)] {
        let changes = changed.map { (before: self[$0.id], after: $0) }
        for member in changed {
            if member.kind == .own { ownUserID = member.id }
            if member.isOther { otherCount += 1 }
            if let index = indices[member.id] {
                if all[index].isOther { otherCount -= 1 }
                all[index] = member
            } else {
                indices[member.id] = all.count
                all.append(member)
            }
        }
        return changes
    }
}

nonisolated extension Member {
    /// Whether the member is joined, and not the user.
    var isOther: Bool { kind != .own && !hasLeft }
}

nonisolated extension Message {
    /// Whether its row, or a reply to it, names one of these members or has their avatar.
    func shows(anyOf members: Set<MemberID>) -> Bool {
        if members.contains(sender) { return true }
        if let subject = content.event?.subject, members.contains(subject) { return true }
        return readReceipts.contains { members.contains($0.member) }
            || reactions.contains { !members.isDisjoint(with: $0.senders) }
    }
}
