import ChatCore
import ChatViewModels
import GtkKit

/// Localized texts for room events.
enum EventText {
    /// Returns a summary of the group that mentions each change once.
    static func summary(_ group: EventGroup) -> String {
        if let line = group.lines.first, group.lines.count == 1 { return sentence(line) }
        return group.segments.map { segment in
            switch segment {
            case .members(let change, let users): sentence(change, users)
            case .room(let line): sentence(line)
            }
        }.joined(separator: " · ")
    }

    static func sentence(_ line: EventGroup.Line) -> String {
        let event = line.event
        let names = [
            "actor": name(line.actor),
            // Lowercase, since no sentence below starts with {name}: membership changes of the user have sentences of
            // their own.
            "name": line.subject == .currentUser ? translated("you") : name(line.subject),
            "before": event.before ?? name(line.subject), "after": event.after ?? "",
        ]
        switch event.kind {
        case .invited: return fill(translated("{actor} invited {name}"), names)
        case .uninvited: return fill(translated("{actor} took back the invitation of {name}"), names)
        case .removed: return fill(translated("{actor} removed {name}"), names)
        case .banned: return fill(translated("{actor} banned {name}"), names)
        case .unbanned: return fill(translated("{actor} lifted the ban of {name}"), names)
        case .renamed where line.subject == .currentUser: return fill(translated("You are now called {after}"), names)
        case .renamed where event.after != nil: return fill(translated("{before} is now called {after}"), names)
        case .roomNamed where event.after == nil: return fill(translated("{actor} took away the room’s name"), names)
        case .roomNamed: return fill(translated("{actor} named the room “{after}”"), names)
        case .topicSet where event.after == nil: return fill(translated("{actor} took away the topic"), names)
        case .topicSet: return fill(translated("{actor} set the topic to “{after}”"), names)
        case .roomAvatarChanged: return fill(translated("{actor} changed the room’s picture"), names)
        case .encrypted: return fill(translated("{actor} turned on encryption"), names)
        case .replaced where event.after != nil:
            return fill(translated("{actor} moved the conversation to another room: “{after}”"), names)
        case .replaced: return fill(translated("{actor} moved the conversation to another room"), names)
        case .continued: return translated("This room continues an earlier one")
        case .roleSet: return fill(role(event), names)
        case .permissionsSet: return fill(translated("{actor} changed the permissions"), names)
        case .joinRuleSet, .guestAccessSet, .historyVisibilitySet: return fill(rule(event), names)
        case .addressSet where event.after == nil: return fill(translated("{actor} removed the room’s address"), names)
        case .addressSet: return fill(translated("{actor} set the room’s address to {after}"), names)
        case .addressesSet: return fill(translated("{actor} changed the room’s other addresses"), names)
        case .pinned: return fill(translated("{actor} pinned a message"), names)
        case .unpinned: return fill(translated("{actor} unpinned a message"), names)
        case .invitedElsewhere: return fill(translated("{actor} invited {after}"), names)
        case .uninvitedElsewhere where event.after == nil:
            return fill(translated("{actor} took back an invitation"), names)
        case .uninvitedElsewhere: return fill(translated("{actor} took back the invitation of {after}"), names)
        case .called where line.actor == .currentUser: return translated("You called")
        case .called: return fill(translated("Missed call from {actor}"), names)
        case .joined, .left, .declined, .knocked, .renamed, .avatarChanged:
            return sentence(.kind(event.kind), [line.subject])
        }
    }

    private static func role(_ event: RoomEvent) -> String {
        switch event.after.flatMap(RoomEvent.Role.init) {
        case .administrator?: translated("{actor} made {name} an administrator")
        case .moderator?: translated("{actor} made {name} a moderator")
        case .member?, nil: translated("{actor} made {name} an ordinary member")
        }
    }

    /// The values are those of the Matrix specification; unknown ones get a generic sentence.
    private static func rule(_ event: RoomEvent) -> String {
        switch (event.kind, event.after) {
        case (.joinRuleSet, "public"): translated("{actor} let anyone join")
        case (.joinRuleSet, "invite"): translated("{actor} let only invited people join")
        case (.joinRuleSet, "knock"): translated("{actor} let people ask to join")
        case (.joinRuleSet, "restricted"), (.joinRuleSet, "knock_restricted"):
            translated("{actor} let members of certain rooms join")
        case (.joinRuleSet, _): translated("{actor} changed who can join")
        case (.guestAccessSet, "can_join"): translated("{actor} let guests join")
        case (.guestAccessSet, _): translated("{actor} kept guests from joining")
        case (_, "world_readable"): translated("{actor} let anyone read the messages")
        case (_, "shared"): translated("{actor} let members read all messages")
        case (_, "invited"): translated("{actor} let members read messages from their invitation on")
        case (_, "joined"): translated("{actor} let members read messages from their joining on")
        default: translated("{actor} changed who can read the messages")
        }
    }

    private static func sentence(_ change: EventGroup.Change, _ users: [EventGroup.Participant]) -> String {
        let count = users.count
        let text =
            switch change {
            case .joinedAndLeft: translated("{name} joined and left", "{name} joined and left", count: count)
            case .rejoined: translated("{name} left and came back", "{name} left and came back", count: count)
            case .kind(.joined): translated("{name} joined", "{name} joined", count: count)
            case .kind(.left): translated("{name} left", "{name} left", count: count)
            case .kind(.declined):
                translated("{name} declined the invitation", "{name} declined the invitations", count: count)
            case .kind(.knocked): translated("{name} asked to join", "{name} asked to join", count: count)
            case .kind(.invited) where users == [.currentUser]: translated("You were invited")
            case .kind(.invited): translated("{name} was invited", "{name} were invited", count: count)
            case .kind(.uninvited):
                translated(
                    "the invitation of {name} was taken back", "the invitations of {name} were taken back", count: count
                )
            case .kind(.removed) where users == [.currentUser]: translated("You were removed")
            case .kind(.removed): translated("{name} was removed", "{name} were removed", count: count)
            case .kind(.banned) where users == [.currentUser]: translated("You were banned")
            case .kind(.banned): translated("{name} was banned", "{name} were banned", count: count)
            case .kind(.unbanned):
                translated("the ban of {name} was lifted", "the bans of {name} were lifted", count: count)
            case .kind(.avatarChanged):
                translated("{name} changed their picture", "{name} changed their pictures", count: count)
            case .kind: translated("{name} changed their name", "{name} changed their names", count: count)
            }
        return fill(text, ["name": names(users)])
    }

    private static func name(_ user: EventGroup.Participant) -> String {
        switch user {
        case .currentUser: translated("You")
        case .named(let name): name
        }
    }

    /// Returns “Ada”, “Ada and Bo”, “Ada, Bo and Cy”, or “Ada, Bo and 3 others”.
    static func names(_ users: [EventGroup.Participant]) -> String {
        let names = users.enumerated().map { $0 > 0 && $1 == .currentUser ? translated("you") : name($1) }
        switch names.count {
        case 0: return ""
        case 1: return names[0]
        case 2: return fill(translated("{first} and {last}"), ["first": names[0], "last": names[1]])
        case 3:
            return fill(
                translated("{first}, {second} and {last}"), ["first": names[0], "second": names[1], "last": names[2]])
        default:
            let others = translated("{count} other", "{count} others", count: names.count - 2)
            return fill(
                translated("{first}, {second} and {last}"),
                [
                    "first": names[0], "second": names[1],
                    "last": fill(others, ["count": String(names.count - 2)]),
                ])
        }
    }

    /// Substitutes in a single pass, since names can contain placeholders.
    private static func fill(_ text: String, _ values: [String: String]) -> String {
        Translator.untranslated.translate(text, values)
    }
}
