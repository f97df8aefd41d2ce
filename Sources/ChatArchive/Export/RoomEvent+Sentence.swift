import ChatCore

extension RoomEvent {
    /// Returns the event as an English sentence, with the words of the window; exports are not translated.
    func sentence(by actor: String, of subject: String?) -> String {
        let subject = subject ?? actor
        return switch kind {
        case .joined: "\(subject) joined"
        case .left: "\(subject) left"
        case .declined: "\(subject) declined the invitation"
        case .knocked: "\(subject) asked to join"
        case .invited: "\(actor) invited \(subject)"
        case .uninvited: "\(actor) revoked the invitation for \(subject)"
        case .removed: "\(actor) removed \(subject)"
        case .banned: "\(actor) banned \(subject)"
        case .unbanned: "\(actor) unbanned \(subject)"
        case .renamed:
            after.map { "\(before ?? subject) changed their name to \($0)" } ?? "\(subject) changed their name"
        case .avatarChanged: "\(subject) changed their avatar"
        case .roomNamed: after.map { "\(actor) changed the room name to “\($0)”" } ?? "\(actor) removed the room name"
        case .topicSet: after.map { "\(actor) changed the topic to “\($0)”" } ?? "\(actor) removed the topic"
        case .roomAvatarChanged: "\(actor) changed the room avatar"
        case .encrypted: "\(actor) turned on encryption"
        case .replaced: after.map { "\(actor) upgraded this room: “\($0)”" } ?? "\(actor) upgraded this room"
        case .continued: "This room replaces an earlier one"
        case .roleSet where actor == subject: "\(actor) changed their role"
        case .roleSet: "\(actor) made \(subject) \(roleName)"
        case .permissionsSet: "\(actor) changed the permissions"
        case .joinRuleSet: withValue("\(actor) changed who can join")
        case .guestAccessSet: withValue("\(actor) changed whether guests can join")
        case .historyVisibilitySet: withValue("\(actor) changed who can read the message history")
        case .addressSet:
            after.map { "\(actor) changed the room address to \($0)" } ?? "\(actor) removed the room address"
        case .addressesSet: "\(actor) changed the alternative room addresses"
        case .pinned: "\(actor) pinned a message"
        case .unpinned: "\(actor) unpinned a message"
        case .invitedElsewhere: "\(actor) invited \(after ?? "someone")"
        case .uninvitedElsewhere:
            after.map { "\(actor) revoked the invitation for \($0)" } ?? "\(actor) revoked an invitation"
        case .called: "\(actor) called"
        case .verificationRequested: "\(actor) asked to verify \(subject)"
        }
    }

    private var roleName: String {
        switch after.flatMap(Role.init) {
        case .administrator: "an administrator"
        case .moderator: "a moderator"
        case .member, nil: "a regular member"
        }
    }

    /// Adds the Matrix value, so that the export loses nothing.
    private func withValue(_ sentence: String) -> String { after.map { "\(sentence): \($0)" } ?? sentence }
}
