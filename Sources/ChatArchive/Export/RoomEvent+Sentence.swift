import ChatCore

extension RoomEvent {
    /// Returns the event as an English sentence; exports are not translated.
    func sentence(by actor: String, of subject: String?) -> String {
        let subject = subject ?? actor
        return switch kind {
        case .joined: "\(subject) joined"
        case .left: "\(subject) left"
        case .declined: "\(subject) declined the invitation"
        case .knocked: "\(subject) asked to join"
        case .invited: "\(actor) invited \(subject)"
        case .uninvited: "\(actor) took back the invitation of \(subject)"
        case .removed: "\(actor) removed \(subject)"
        case .banned: "\(actor) banned \(subject)"
        case .unbanned: "\(actor) lifted the ban of \(subject)"
        case .renamed: "\(before ?? subject) is now called \(after ?? subject)"
        case .avatarChanged: "\(subject) changed their picture"
        case .roomNamed: after.map { "\(actor) named the room “\($0)”" } ?? "\(actor) took away the room’s name"
        case .topicSet: after.map { "\(actor) set the topic to “\($0)”" } ?? "\(actor) took away the topic"
        case .roomAvatarChanged: "\(actor) changed the room’s picture"
        case .encrypted: "\(actor) turned on encryption"
        case .replaced: "\(actor) moved the conversation to another room" + (after.map { ": “\($0)”" } ?? "")
        case .continued: "This room replaces an earlier one"
        case .roleSet: "\(actor) made \(subject) \(after == "administrator" ? "an" : "a") \(after ?? "member")"
        case .permissionsSet: "\(actor) changed the permissions"
        case .joinRuleSet: "\(actor) changed who can join" + (after.map { ": \($0)" } ?? "")
        case .guestAccessSet: "\(actor) changed whether guests can join" + (after.map { ": \($0)" } ?? "")
        case .historyVisibilitySet: "\(actor) changed who can read the messages" + (after.map { ": \($0)" } ?? "")
        case .addressSet:
            after.map { "\(actor) set the room’s address to \($0)" } ?? "\(actor) removed the room’s address"
        case .addressesSet: "\(actor) changed the room’s other addresses"
        case .pinned: "\(actor) pinned a message"
        case .unpinned: "\(actor) unpinned a message"
        case .invitedElsewhere: "\(actor) invited \(after ?? "somebody")"
        case .uninvitedElsewhere: "\(actor) took back the invitation of \(after ?? "somebody")"
        case .called: "\(actor) called"
        }
    }
}
