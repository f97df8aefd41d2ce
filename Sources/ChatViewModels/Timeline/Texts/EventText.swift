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
        case .uninvited: return translator("{actor} took back the invitation of {name}", names)
        case .removed: return translator("{actor} removed {name}", names)
        case .banned: return translator("{actor} banned {name}", names)
        case .unbanned: return translator("{actor} lifted the ban of {name}", names)
        case .renamed where line.subject == .currentUser: return translator("You are now called {after}", names)
        case .renamed where event.after != nil: return translator("{before} is now called {after}", names)
        case .roomNamed where event.after == nil: return translator("{actor} took away the room’s name", names)
        case .roomNamed: return translator("{actor} named the room “{after}”", names)
        case .topicSet where event.after == nil: return translator("{actor} took away the topic", names)
        case .topicSet: return translator("{actor} set the topic to “{after}”", names)
        case .roomAvatarChanged: return translator("{actor} changed the room’s picture", names)
        case .encrypted: return translator("{actor} turned on encryption", names)
        case .replaced where event.after != nil:
            return translator("{actor} moved the conversation to another room: “{after}”", names)
        case .replaced: return translator("{actor} moved the conversation to another room", names)
        case .continued: return translator("This room continues an earlier one")
        case .roleSet: return role(event, names)
        case .permissionsSet: return translator("{actor} changed the permissions", names)
        case .joinRuleSet, .guestAccessSet, .historyVisibilitySet: return rule(event, names)
        case .addressSet where event.after == nil: return translator("{actor} removed the room’s address", names)
        case .addressSet: return translator("{actor} set the room’s address to {after}", names)
        case .addressesSet: return translator("{actor} changed the room’s other addresses", names)
        case .pinned: return translator("{actor} pinned a message", names)
        case .unpinned: return translator("{actor} unpinned a message", names)
        case .invitedElsewhere: return translator("{actor} invited {after}", names)
        case .uninvitedElsewhere where event.after == nil:
            return translator("{actor} took back an invitation", names)
        case .uninvitedElsewhere: return translator("{actor} took back the invitation of {after}", names)
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
        case .member?, nil: translator("{actor} made {name} an ordinary member", names)
        }
    }

    /// The values are those of the Matrix specification; unknown ones get a generic sentence.
    private func rule(_ event: RoomEvent, _ names: [String: String]) -> String {
        switch (event.kind, event.after) {
        case (.joinRuleSet, "public"): translator("{actor} let anyone join", names)
        case (.joinRuleSet, "invite"): translator("{actor} let only invited people join", names)
        case (.joinRuleSet, "knock"): translator("{actor} let people ask to join", names)
        case (.joinRuleSet, "restricted"), (.joinRuleSet, "knock_restricted"):
            translator("{actor} let members of certain rooms join", names)
        case (.joinRuleSet, _): translator("{actor} changed who can join", names)
        case (.guestAccessSet, "can_join"): translator("{actor} let guests join", names)
        case (.guestAccessSet, _): translator("{actor} kept guests from joining", names)
        case (_, "world_readable"): translator("{actor} let anyone read the messages", names)
        case (_, "shared"): translator("{actor} let members read all messages", names)
        case (_, "invited"): translator("{actor} let members read messages from their invitation on", names)
        case (_, "joined"): translator("{actor} let members read messages from their joining on", names)
        default: translator("{actor} changed who can read the messages", names)
        }
    }

    private func sentence(_ change: EventGroup.Change, _ users: [EventGroup.Participant]) -> String {
        let count = users.count
        let name = ["name": names(users)]
        return switch change {
        case .joinedAndLeft: translator.plural("{name} joined and left", "{name} joined and left", count, name)
        case .rejoined: translator.plural("{name} left and came back", "{name} left and came back", count, name)
        case .kind(.joined): translator.plural("{name} joined", "{name} joined", count, name)
        case .kind(.left): translator.plural("{name} left", "{name} left", count, name)
        case .kind(.declined):
            translator.plural("{name} declined the invitation", "{name} declined the invitations", count, name)
        case .kind(.knocked): translator.plural("{name} asked to join", "{name} asked to join", count, name)
        case .kind(.invited) where users == [.currentUser]: translator("You were invited")
        case .kind(.invited): translator.plural("{name} was invited", "{name} were invited", count, name)
        case .kind(.uninvited):
            translator.plural(
                "the invitation of {name} was taken back", "the invitations of {name} were taken back", count, name)
        case .kind(.removed) where users == [.currentUser]: translator("You were removed")
        case .kind(.removed): translator.plural("{name} was removed", "{name} were removed", count, name)
        case .kind(.banned) where users == [.currentUser]: translator("You were banned")
        case .kind(.banned): translator.plural("{name} was banned", "{name} were banned", count, name)
        case .kind(.unbanned):
            translator.plural("the ban of {name} was lifted", "the bans of {name} were lifted", count, name)
        case .kind(.avatarChanged):
            translator.plural("{name} changed their picture", "{name} changed their pictures", count, name)
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
                "{first}, {second} and {last}", ["first": names[0], "second": names[1], "last": names[2]])
        default:
            let others = translator.plural("{count} other", "{count} others", names.count - 2)
            return translator(
                "{first}, {second} and {last}", ["first": names[0], "second": names[1], "last": others])
        }
    }
}
