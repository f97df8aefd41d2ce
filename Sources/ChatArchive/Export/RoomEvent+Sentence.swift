import ChatCore

extension RoomEvent {
    /// What happened, as exports say it: in English, as all that they say.
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
        case .pictured: "\(subject) changed their picture"
        case .roomNamed: after.map { "\(actor) named the room “\($0)”" } ?? "\(actor) took away the room’s name"
        case .topicSet: after.map { "\(actor) set the topic to “\($0)”" } ?? "\(actor) took away the topic"
        case .roomPictured: "\(actor) changed the room’s picture"
        case .encrypted: "\(actor) turned on encryption"
        case .replaced: "\(actor) moved the conversation to another room"
        }
    }
}
