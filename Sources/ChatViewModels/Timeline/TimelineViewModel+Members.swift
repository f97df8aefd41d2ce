import ChatCore

/// The room's members, including former ones.
extension TimelineViewModel {
    func setMembers(_ members: [Member]) {
        state.members = members
        ownUserID = members.first { $0.kind == .own }?.id
        bodies.setMembers(members)
        names = Dictionary(members.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        memberIndices = Dictionary(
            members.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// Takes time proportional to the change, not to the room's size.
    func changeMembers(_ changed: [Member]) {
        bodies.changeMembers(changed.map { (names[$0.id], $0) })
        for member in changed {
            names[member.id] = member
            if member.kind == .own { ownUserID = member.id }
            if let memberIndex = memberIndices[member.id] {
                state.members[memberIndex] = member
            } else {
                memberIndices[member.id] = state.members.count
                state.members.append(member)
            }
        }
    }
}
