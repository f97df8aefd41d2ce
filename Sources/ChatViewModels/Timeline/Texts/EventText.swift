public import ChatCore

/// Localized texts for room events.
public nonisolated struct EventText: Sendable {
    private let translator: Translator

    public init(_ translator: Translator) { self.translator = translator }

    /// Returns a summary of the group that mentions each change once.
    public func summary(_ group: EventGroup) -> String {
        if let line = group.lines.first, group.lines.count == 1 { return sentence(line) }
        return group.segments.map { segment in
            switch segment {
            case .members(let change, let users): sentence(change, users)
            case .room(let line): sentence(line)
            }
        }.joined(separator: " · ")
    }

    public func sentence(_ line: EventGroup.Line) -> String {
        let event = line.event
        let names = [
            "actor": name(line.actor),
            // Lowercase, since no sentence below starts with {name}: membership changes of the user have sentences of
            // their own.
            "name": line.subject == .currentUser ? translator("you") : name(line.subject),
            "before": event.before ?? name(line.subject), "after": event.after ?? "",
        ]
        switch event.kind {
        case .invited: return translator("{actor} invited {name}", names)
        case .uninvited: return translator("{actor} revoked the invitation for {name}", names)
        case .removed: return translator("{actor} removed {name}", names)
        case .banned: return translator("{actor} banned {name}", names)
        case .unbanned: return translator("{actor} unbanned {name}", names)
        case .renamed where line.subject == .currentUser: return translator("You changed your name to {after}", names)
        case .renamed where event.after != nil: return translator("{before} changed their name to {after}", names)
        case .roomNamed where event.after == nil: return translator("{actor} removed the room name", names)
        case .roomNamed: return translator("{actor} changed the room name to “{after}”", names)
        case .topicSet where event.after == nil: return translator("{actor} removed the topic", names)
        case .topicSet: return translator("{actor} changed the topic to “{after}”", names)
        case .roomAvatarChanged: return translator("{actor} changed the room avatar", names)
        case .encrypted: return translator("{actor} turned on encryption", names)
        case .replaced where event.after != nil:
            return translator("{actor} upgraded this room: “{after}”", names)
        case .replaced: return translator("{actor} upgraded this room", names)
        case .continued: return translator("This room replaces an earlier one")
        case .roleSet: return role(event, names)
        case .permissionsSet: return translator("{actor} changed the permissions", names)
        case .joinRuleSet, .guestAccessSet, .historyVisibilitySet: return rule(event, names)
        case .addressSet where event.after == nil: return translator("{actor} removed the room address", names)
        case .addressSet: return translator("{actor} changed the room address to {after}", names)
        case .addressesSet: return translator("{actor} changed the other room addresses", names)
        case .pinned: return translator("{actor} pinned a message", names)
        case .unpinned: return translator("{actor} unpinned a message", names)
        case .invitedElsewhere: return translator("{actor} invited {after}", names)
        case .uninvitedElsewhere where event.after == nil:
            return translator("{actor} revoked an invitation", names)
        case .uninvitedElsewhere: return translator("{actor} revoked the invitation for {after}", names)
        case .called where line.actor == .currentUser: return translator("You called")
        case .called: return translator("Missed call from {actor}", names)
        case .joined, .left, .declined, .knocked, .renamed, .avatarChanged:
            return sentence(.kind(event.kind), [line.subject])
        }
    }

    private func role(_ event: RoomEvent, _ names: [String: String]) -> String {
        switch event.after.flatMap(RoomEvent.Role.init) {
        case .administrator?: translator("{actor} made {name} an administrator", names)
        case .moderator?: translator("{actor} made {name} a moderator", names)
        case .member?, nil: translator("{actor} made {name} a regular member", names)
        }
    }

    /// The values are those of the Matrix specification; unknown ones get a generic sentence.
    private func rule(_ event: RoomEvent, _ names: [String: String]) -> String {
        switch (event.kind, event.after) {
        case (.joinRuleSet, "public"): translator("{actor} allowed anyone to join", names)
        case (.joinRuleSet, "invite"): translator("{actor} made the room invite-only", names)
        case (.joinRuleSet, "knock"): translator("{actor} allowed people to ask to join", names)
        case (.joinRuleSet, "restricted"), (.joinRuleSet, "knock_restricted"):
            translator("{actor} allowed members of certain rooms to join", names)
        case (.joinRuleSet, _): translator("{actor} changed who can join", names)
        case (.guestAccessSet, "can_join"): translator("{actor} allowed guests to join", names)
        case (.guestAccessSet, _): translator("{actor} prevented guests from joining", names)
        case (_, "world_readable"): translator("{actor} made the message history visible to anyone", names)
        case (_, "shared"): translator("{actor} made the message history visible to all members", names)
        case (_, "invited"):
            translator("{actor} made the message history visible to members from the time they were invited", names)
        case (_, "joined"):
            translator("{actor} made the message history visible to members from the time they joined", names)
        default: translator("{actor} changed who can read the message history", names)
        }
    }

    private func sentence(_ change: EventGroup.Change, _ users: [EventGroup.Participant]) -> String {
        let count = users.count
        let name = ["name": names(users)]
        return switch change {
        case .joinedAndLeft: translator.plural("{name} joined and left", "{name} joined and left", count, name)
        case .rejoined: translator.plural("{name} left and rejoined", "{name} left and rejoined", count, name)
        case .kind(.joined): translator.plural("{name} joined", "{name} joined", count, name)
        case .kind(.left): translator.plural("{name} left", "{name} left", count, name)
        case .kind(.declined):
            translator.plural("{name} declined the invitation", "{name} declined the invitations", count, name)
        case .kind(.knocked): translator.plural("{name} asked to join", "{name} asked to join", count, name)
        case .kind(.invited) where users == [.currentUser]: translator("You were invited")
        case .kind(.invited): translator.plural("{name} was invited", "{name} were invited", count, name)
        case .kind(.uninvited):
            translator.plural(
                "The invitation for {name} was revoked", "The invitations for {name} were revoked", count, name)
        case .kind(.removed) where users == [.currentUser]: translator("You were removed")
        case .kind(.removed): translator.plural("{name} was removed", "{name} were removed", count, name)
        case .kind(.banned) where users == [.currentUser]: translator("You were banned")
        case .kind(.banned): translator.plural("{name} was banned", "{name} were banned", count, name)
        case .kind(.unbanned):
            translator.plural("{name} was unbanned", "{name} were unbanned", count, name)
        case .kind(.avatarChanged):
            translator.plural("{name} changed their avatar", "{name} changed their avatars", count, name)
        case .kind: translator.plural("{name} changed their name", "{name} changed their names", count, name)
        }
    }

    private func name(_ user: EventGroup.Participant) -> String {
        switch user {
        case .currentUser: translator("You")
        case .named(let name): name
        }
    }

    /// Returns “Ada”, “Ada and Bo”, “Ada, Bo and Cy”, or “Ada, Bo and 3 others”.
    public func names(_ users: [EventGroup.Participant]) -> String {
        let names = users.enumerated().map { $0 > 0 && $1 == .currentUser ? translator("you") : name($1) }
        switch names.count {
        case 0: return ""
        case 1: return names[0]
        case 2: return translator("{first} and {last}", ["first": names[0], "last": names[1]])
        case 3:
            return translator(
                "{first}, {second}, and {last}", ["first": names[0], "second": names[1], "last": names[2]])
        default:
            let others = translator.plural("{count} other", "{count} others", names.count - 2)
            return translator(
                "{first}, {second}, and {last}", ["first": names[0], "second": names[1], "last": others])
        }
    }
}
