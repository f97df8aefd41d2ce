public import ChatCore

/// Localized texts for room events.
///
/// What the user does, and what happens to the user, has sentences of its own: languages inflect verbs for “you”.
public nonisolated struct EventText: Sendable {
    private let translator: Translator

    public init(_ translator: Translator) { self.translator = translator }

    /// Returns a summary of the group that mentions each change once.
    public func summary(_ group: EventGroup) -> String {
        if let line = group.lines.first, group.lines.count == 1 { return sentence(line) }
        return group.segments.flatMap { segment in
            switch segment {
            case .members(let change, let users): sentences(change, users)
            case .room(let line): [sentence(line)]
            }
        }.joined(separator: " · ")
    }

    public func sentence(_ line: EventGroup.Line) -> String {
        let names = [
            "actor": name(line.actor), "name": name(line.subject),
            "before": line.event.before ?? name(line.subject), "after": line.event.after ?? "",
        ]
        switch line.event.kind {
        case .invited, .uninvited, .removed, .banned, .unbanned, .roleSet, .verificationRequested:
            return membership(line, names)
        case .renamed where line.event.after != nil:
            return line.subject == .currentUser
                ? translator("You changed your name to {after}", names)
                : translator("{before} changed their name to {after}", names)
        case .joined, .left, .declined, .knocked, .renamed, .avatarChanged:
            return sentence(.kind(line.event.kind), [line.subject])
        case .joinRuleSet, .guestAccessSet, .historyVisibilitySet:
            return line.actor == .currentUser ? ownRule(line.event) : rule(line.event, names)
        default: return line.actor == .currentUser ? ownChange(line.event, names) : change(line.event, names)
        }
    }

    // MARK: Members

    private func membership(_ line: EventGroup.Line, _ names: [String: String]) -> String {
        if line.actor == line.subject { return selfAct(line, names) }
        if line.actor == .currentUser { return ownAct(line.event, names) }
        return line.subject == .currentUser ? actOnUser(line.event, names) : act(line.event, names)
    }

    /// Members can change their own role. Anything else is described by its outcome.
    private func selfAct(_ line: EventGroup.Line, _ names: [String: String]) -> String {
        if line.event.kind == .verificationRequested {
            return line.actor == .currentUser ? ownAct(line.event, names) : act(line.event, names)
        }
        guard line.event.kind == .roleSet else { return sentence(.kind(line.event.kind), [line.subject]) }
        return line.actor == .currentUser
            ? translator("You changed your role") : translator("{actor} changed their role", names)
    }

    /// What someone did to another member.
    private func act(_ event: RoomEvent, _ names: [String: String]) -> String {
        switch (event.kind, role(event)) {
        case (.invited, _): translator("{actor} invited {name}", names)
        case (.uninvited, _): translator("{actor} revoked the invitation for {name}", names)
        case (.removed, _): translator("{actor} removed {name}", names)
        case (.banned, _): translator("{actor} banned {name}", names)
        case (.unbanned, _): translator("{actor} unbanned {name}", names)
        case (.verificationRequested, _): translator("{actor} asked to verify {name}", names)
        case (_, .administrator): translator("{actor} made {name} an administrator", names)
        case (_, .moderator): translator("{actor} made {name} a moderator", names)
        case (_, .member): translator("{actor} made {name} a regular member", names)
        }
    }

    /// What the user did to another member.
    private func ownAct(_ event: RoomEvent, _ names: [String: String]) -> String {
        switch (event.kind, role(event)) {
        case (.invited, _): translator("You invited {name}", names)
        case (.uninvited, _): translator("You revoked the invitation for {name}", names)
        case (.removed, _): translator("You removed {name}", names)
        case (.banned, _): translator("You banned {name}", names)
        case (.unbanned, _): translator("You unbanned {name}", names)
        case (.verificationRequested, _): translator("You asked to verify {name}", names)
        case (_, .administrator): translator("You made {name} an administrator", names)
        case (_, .moderator): translator("You made {name} a moderator", names)
        case (_, .member): translator("You made {name} a regular member", names)
        }
    }

    /// What someone did to the user.
    private func actOnUser(_ event: RoomEvent, _ names: [String: String]) -> String {
        switch (event.kind, role(event)) {
        case (.invited, _): translator("{actor} invited you", names)
        case (.uninvited, _): translator("{actor} revoked your invitation", names)
        case (.removed, _): translator("{actor} removed you", names)
        case (.banned, _): translator("{actor} banned you", names)
        case (.unbanned, _): translator("{actor} unbanned you", names)
        case (.verificationRequested, _): translator("{actor} asked to verify you", names)
        case (_, .administrator): translator("{actor} made you an administrator", names)
        case (_, .moderator): translator("{actor} made you a moderator", names)
        case (_, .member): translator("{actor} made you a regular member", names)
        }
    }

    private func role(_ event: RoomEvent) -> RoomEvent.Role {
        event.after.flatMap(RoomEvent.Role.init) ?? .member
    }

    /// One sentence, or two where one could not say “your” and “their” at once.
    private func sentences(_ change: EventGroup.Change, _ users: [EventGroup.Participant]) -> [String] {
        switch change {
        case .kind(.uninvited), .kind(.avatarChanged), .kind(.renamed), .kind(.declined):
            let others = users.filter { $0 != .currentUser }
            guard others.count < users.count, !others.isEmpty else { return [sentence(change, users)] }
            return [sentence(change, [.currentUser]), sentence(change, others)]
        default: return [sentence(change, users)]
        }
    }

    private func sentence(_ change: EventGroup.Change, _ users: [EventGroup.Participant]) -> String {
        if users == [.currentUser] { return ownSentence(change) }
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
        case .kind(.invited): translator.plural("{name} was invited", "{name} were invited", count, name)
        case .kind(.uninvited):
            translator.plural(
                "The invitation for {name} was revoked", "The invitations for {name} were revoked", count, name)
        case .kind(.removed): translator.plural("{name} was removed", "{name} were removed", count, name)
        case .kind(.banned): translator.plural("{name} was banned", "{name} were banned", count, name)
        case .kind(.unbanned): translator.plural("{name} was unbanned", "{name} were unbanned", count, name)
        case .kind(.avatarChanged):
            translator.plural("{name} changed their avatar", "{name} changed their avatars", count, name)
        case .kind: translator.plural("{name} changed their name", "{name} changed their names", count, name)
        }
    }

    private func ownSentence(_ change: EventGroup.Change) -> String {
        switch change {
        case .joinedAndLeft: translator("You joined and left")
        case .rejoined: translator("You left and rejoined")
        case .kind(.joined): translator("You joined")
        case .kind(.left): translator("You left")
        case .kind(.declined): translator("You declined the invitation")
        case .kind(.knocked): translator("You asked to join")
        case .kind(.invited): translator("You were invited")
        case .kind(.uninvited): translator("Your invitation was revoked")
        case .kind(.removed): translator("You were removed")
        case .kind(.banned): translator("You were banned")
        case .kind(.unbanned): translator("You were unbanned")
        case .kind(.avatarChanged): translator("You changed your avatar")
        case .kind: translator("You changed your name")
        }
    }

    // MARK: The room

    private func change(_ event: RoomEvent, _ names: [String: String]) -> String {
        switch event.kind {
        case .roomNamed where event.after == nil: translator("{actor} removed the room name", names)
        case .roomNamed: translator("{actor} changed the room name to “{after}”", names)
        case .topicSet where event.after == nil: translator("{actor} removed the topic", names)
        case .topicSet: translator("{actor} changed the topic to “{after}”", names)
        case .roomAvatarChanged: translator("{actor} changed the room avatar", names)
        case .encrypted: translator("{actor} turned on encryption", names)
        case .replaced where event.after != nil: translator("{actor} upgraded this room: “{after}”", names)
        case .replaced: translator("{actor} upgraded this room", names)
        case .continued: translator("This room replaces an earlier one")
        case .addressSet where event.after == nil: translator("{actor} removed the room address", names)
        case .addressSet: translator("{actor} changed the room address to {after}", names)
        case .addressesSet: translator("{actor} changed the alternative room addresses", names)
        case .pinned: translator("{actor} pinned a message", names)
        case .unpinned: translator("{actor} unpinned a message", names)
        case .invitedElsewhere where event.after == nil: translator("{actor} invited someone", names)
        case .invitedElsewhere: translator("{actor} invited {after}", names)
        case .uninvitedElsewhere where event.after == nil: translator("{actor} revoked an invitation", names)
        case .uninvitedElsewhere: translator("{actor} revoked the invitation for {after}", names)
        case .called: translator("Missed call from {actor}", names)
        case .permissionsSet: translator("{actor} changed the permissions", names)
        case .joined, .invited, .knocked, .left, .declined, .removed, .banned, .unbanned, .uninvited, .renamed,
            .avatarChanged, .roleSet, .joinRuleSet, .guestAccessSet, .historyVisibilitySet, .verificationRequested:
            // Listed so that a new kind requires a decision; `sentence(_:)` has the texts of these.
            ""
        }
    }

    private func ownChange(_ event: RoomEvent, _ names: [String: String]) -> String {
        switch event.kind {
        case .roomNamed where event.after == nil: translator("You removed the room name")
        case .roomNamed: translator("You changed the room name to “{after}”", names)
        case .topicSet where event.after == nil: translator("You removed the topic")
        case .topicSet: translator("You changed the topic to “{after}”", names)
        case .roomAvatarChanged: translator("You changed the room avatar")
        case .encrypted: translator("You turned on encryption")
        case .replaced where event.after != nil: translator("You upgraded this room: “{after}”", names)
        case .replaced: translator("You upgraded this room")
        case .continued: translator("This room replaces an earlier one")
        case .addressSet where event.after == nil: translator("You removed the room address")
        case .addressSet: translator("You changed the room address to {after}", names)
        case .addressesSet: translator("You changed the alternative room addresses")
        case .pinned: translator("You pinned a message")
        case .unpinned: translator("You unpinned a message")
        case .invitedElsewhere where event.after == nil: translator("You invited someone")
        case .invitedElsewhere: translator("You invited {after}", names)
        case .uninvitedElsewhere where event.after == nil: translator("You revoked an invitation")
        case .uninvitedElsewhere: translator("You revoked the invitation for {after}", names)
        case .called: translator("You called")
        case .permissionsSet: translator("You changed the permissions")
        case .joined, .invited, .knocked, .left, .declined, .removed, .banned, .unbanned, .uninvited, .renamed,
            .avatarChanged, .roleSet, .joinRuleSet, .guestAccessSet, .historyVisibilitySet, .verificationRequested:
            // Listed so that a new kind requires a decision; `sentence(_:)` has the texts of these.
            ""
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
        case (.guestAccessSet, "forbidden"): translator("{actor} prevented guests from joining", names)
        case (.guestAccessSet, _): translator("{actor} changed whether guests can join", names)
        case (_, "world_readable"): translator("{actor} made the message history visible to anyone", names)
        case (_, "shared"): translator("{actor} made the message history visible to all members", names)
        case (_, "invited"):
            translator("{actor} made the message history visible to members from the time they were invited", names)
        case (_, "joined"):
            translator("{actor} made the message history visible to members from the time they joined", names)
        default: translator("{actor} changed who can read the message history", names)
        }
    }

    private func ownRule(_ event: RoomEvent) -> String {
        switch (event.kind, event.after) {
        case (.joinRuleSet, "public"): translator("You allowed anyone to join")
        case (.joinRuleSet, "invite"): translator("You made the room invite-only")
        case (.joinRuleSet, "knock"): translator("You allowed people to ask to join")
        case (.joinRuleSet, "restricted"), (.joinRuleSet, "knock_restricted"):
            translator("You allowed members of certain rooms to join")
        case (.joinRuleSet, _): translator("You changed who can join")
        case (.guestAccessSet, "can_join"): translator("You allowed guests to join")
        case (.guestAccessSet, "forbidden"): translator("You prevented guests from joining")
        case (.guestAccessSet, _): translator("You changed whether guests can join")
        case (_, "world_readable"): translator("You made the message history visible to anyone")
        case (_, "shared"): translator("You made the message history visible to all members")
        case (_, "invited"):
            translator("You made the message history visible to members from the time they were invited")
        case (_, "joined"): translator("You made the message history visible to members from the time they joined")
        default: translator("You changed who can read the message history")
        }
    }

    // MARK: Names

    private func name(_ user: EventGroup.Participant) -> String {
        switch user {
        case .currentUser: translator("You")
        case .named(let name): name
        }
    }

    /// Returns “Ada”, “Ada and Bo”, “Ada, Bo, and Cy”, or “Ada, Bo, and 3 others”.
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
