import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// Each kind of event with the user and others as actor and subject.
@Suite struct EventSentenceTests {
    private static let texts = EventText(.untranslated)
    private static let (you, ada, bo) = (
        EventGroup.Participant.currentUser, EventGroup.Participant.named("Ada"), EventGroup.Participant.named("Bo")
    )

    private static func sentence(
        _ event: RoomEvent, by actor: EventGroup.Participant, of subject: EventGroup.Participant
    ) -> String {
        texts.sentence(
            EventGroup.Line(
                id: MessageID("e"), event: event, actor: actor, subject: subject, sentAt: Fixtures.date))
    }

    /// Each event: by Ada of Bo, by the user of Bo, by Ada of the user, and by the user alone.
    private static let membersTable: [(RoomEvent, [String])] = [
        (RoomEvent(.joined), ["Bo joined", "Bo joined", "You joined", "You joined"]),
        (RoomEvent(.left), ["Bo left", "Bo left", "You left", "You left"]),
        (
            RoomEvent(.declined),
            [
                "Bo declined the invitation", "Bo declined the invitation", "You declined the invitation",
                "You declined the invitation",
            ]
        ),
        (RoomEvent(.knocked), ["Bo asked to join", "Bo asked to join", "You asked to join", "You asked to join"]),
        (RoomEvent(.invited), ["Ada invited Bo", "You invited Bo", "Ada invited you", "You were invited"]),
        (
            RoomEvent(.uninvited),
            [
                "Ada revoked the invitation for Bo", "You revoked the invitation for Bo",
                "Ada revoked your invitation", "Your invitation was revoked",
            ]
        ),
        (RoomEvent(.removed), ["Ada removed Bo", "You removed Bo", "Ada removed you", "You were removed"]),
        (RoomEvent(.banned), ["Ada banned Bo", "You banned Bo", "Ada banned you", "You were banned"]),
        (RoomEvent(.unbanned), ["Ada unbanned Bo", "You unbanned Bo", "Ada unbanned you", "You were unbanned"]),
        (
            RoomEvent(.verificationRequested),
            ["Ada asked to verify Bo", "You asked to verify Bo", "Ada asked to verify you", "You asked to verify You"]
        ),
        (
            RoomEvent(.renamed),
            ["Bo changed their name", "Bo changed their name", "You changed your name", "You changed your name"]
        ),
        (
            RoomEvent(.renamed, before: "Bob", after: "Bo"),
            [
                "Bob changed their name to Bo", "Bob changed their name to Bo", "You changed your name to Bo",
                "You changed your name to Bo",
            ]
        ),
        (
            RoomEvent(.avatarChanged),
            [
                "Bo changed their avatar", "Bo changed their avatar", "You changed your avatar",
                "You changed your avatar",
            ]
        ),
        (
            RoomEvent(.roleSet, after: "administrator"),
            [
                "Ada made Bo an administrator", "You made Bo an administrator", "Ada made you an administrator",
                "You changed your role",
            ]
        ),
        (
            RoomEvent(.roleSet, after: "moderator"),
            [
                "Ada made Bo a moderator", "You made Bo a moderator", "Ada made you a moderator",
                "You changed your role",
            ]
        ),
        (
            RoomEvent(.roleSet, after: "member"),
            [
                "Ada made Bo a regular member", "You made Bo a regular member", "Ada made you a regular member",
                "You changed your role",
            ]
        ),
    ]

    /// Each event: by Ada, and by the user.
    private static let roomTable: [(RoomEvent, [String])] = [
        (RoomEvent(.roomNamed), ["Ada removed the room name", "You removed the room name"]),
        (
            RoomEvent(.roomNamed, after: "Tea"),
            ["Ada changed the room name to “Tea”", "You changed the room name to “Tea”"]
        ),
        (RoomEvent(.topicSet), ["Ada removed the topic", "You removed the topic"]),
        (RoomEvent(.topicSet, after: "Tea"), ["Ada changed the topic to “Tea”", "You changed the topic to “Tea”"]),
        (RoomEvent(.roomAvatarChanged), ["Ada changed the room avatar", "You changed the room avatar"]),
        (RoomEvent(.encrypted), ["Ada turned on encryption", "You turned on encryption"]),
        (RoomEvent(.replaced), ["Ada upgraded this room", "You upgraded this room"]),
        (RoomEvent(.replaced, after: "Moved"), ["Ada upgraded this room: “Moved”", "You upgraded this room: “Moved”"]),
        (RoomEvent(.continued), ["This room replaces an earlier one", "This room replaces an earlier one"]),
        (RoomEvent(.permissionsSet), ["Ada changed the permissions", "You changed the permissions"]),
        (RoomEvent(.joinRuleSet), ["Ada changed who can join", "You changed who can join"]),
        (RoomEvent(.joinRuleSet, after: "public"), ["Ada allowed anyone to join", "You allowed anyone to join"]),
        (
            RoomEvent(.joinRuleSet, after: "invite"),
            ["Ada made the room invite-only", "You made the room invite-only"]
        ),
        (
            RoomEvent(.joinRuleSet, after: "knock"),
            ["Ada allowed people to ask to join", "You allowed people to ask to join"]
        ),
        (
            RoomEvent(.joinRuleSet, after: "restricted"),
            ["Ada allowed members of certain rooms to join", "You allowed members of certain rooms to join"]
        ),
        (
            RoomEvent(.guestAccessSet),
            ["Ada changed whether guests can join", "You changed whether guests can join"]
        ),
        (
            RoomEvent(.guestAccessSet, after: "can_join"),
            ["Ada allowed guests to join", "You allowed guests to join"]
        ),
        (
            RoomEvent(.guestAccessSet, after: "forbidden"),
            ["Ada prevented guests from joining", "You prevented guests from joining"]
        ),
        (
            RoomEvent(.historyVisibilitySet),
            ["Ada changed who can read the message history", "You changed who can read the message history"]
        ),
        (
            RoomEvent(.historyVisibilitySet, after: "world_readable"),
            ["Ada made the message history visible to anyone", "You made the message history visible to anyone"]
        ),
        (
            RoomEvent(.historyVisibilitySet, after: "shared"),
            [
                "Ada made the message history visible to all members",
                "You made the message history visible to all members",
            ]
        ),
        (
            RoomEvent(.historyVisibilitySet, after: "invited"),
            [
                "Ada made the message history visible to members from the time they were invited",
                "You made the message history visible to members from the time they were invited",
            ]
        ),
        (
            RoomEvent(.historyVisibilitySet, after: "joined"),
            [
                "Ada made the message history visible to members from the time they joined",
                "You made the message history visible to members from the time they joined",
            ]
        ),
        (RoomEvent(.addressSet), ["Ada removed the room address", "You removed the room address"]),
        (
            RoomEvent(.addressSet, after: "#tea:example.org"),
            ["Ada changed the room address to #tea:example.org", "You changed the room address to #tea:example.org"]
        ),
        (
            RoomEvent(.addressesSet),
            ["Ada changed the alternative room addresses", "You changed the alternative room addresses"]
        ),
        (RoomEvent(.pinned), ["Ada pinned a message", "You pinned a message"]),
        (RoomEvent(.unpinned), ["Ada unpinned a message", "You unpinned a message"]),
        (RoomEvent(.invitedElsewhere), ["Ada invited someone", "You invited someone"]),
        (RoomEvent(.invitedElsewhere, after: "Cy"), ["Ada invited Cy", "You invited Cy"]),
        (RoomEvent(.uninvitedElsewhere), ["Ada revoked an invitation", "You revoked an invitation"]),
        (
            RoomEvent(.uninvitedElsewhere, after: "Cy"),
            ["Ada revoked the invitation for Cy", "You revoked the invitation for Cy"]
        ),
        (RoomEvent(.called), ["Missed call from Ada", "You called"]),
    ]

    @Test("The user's own actions, and actions that affect the user, have their own sentences")
    func sentences() {
        for (event, expected) in Self.membersTable {
            let found = [(Self.ada, Self.bo), (Self.you, Self.bo), (Self.ada, Self.you), (Self.you, Self.you)]
                .map { Self.sentence(event, by: $0.0, of: $0.1) }
            #expect(found == expected, "\(event.kind)")
        }
        for (event, expected) in Self.roomTable {
            let found = [Self.ada, Self.you].map { Self.sentence(event, by: $0, of: $0) }
            #expect(found == expected, "\(event.kind)")
        }
    }

    @Test("The tables cover every kind of event")
    func tablesAreComplete() {
        let kinds = Set((Self.membersTable + Self.roomTable).map(\.0.kind))
        #expect(kinds == Set(RoomEvent.Kind.allCases))
    }

    @Test("A member who changes their own role is named once")
    func ownRoleOfAnother() {
        let event = RoomEvent(.roleSet, after: "member")
        #expect(Self.sentence(event, by: Self.ada, of: Self.ada) == "Ada changed their role")
    }

    /// Each change: of the user, of Bo, of Ada and Bo, and of the user and Bo.
    private static let changesTable: [(EventGroup.Change, [String])] = [
        (
            .joinedAndLeft,
            ["You joined and left", "Bo joined and left", "Ada and Bo joined and left", "You and Bo joined and left"]
        ),
        (
            .rejoined,
            [
                "You left and rejoined", "Bo left and rejoined", "Ada and Bo left and rejoined",
                "You and Bo left and rejoined",
            ]
        ),
        (.kind(.joined), ["You joined", "Bo joined", "Ada and Bo joined", "You and Bo joined"]),
        (.kind(.left), ["You left", "Bo left", "Ada and Bo left", "You and Bo left"]),
        (
            .kind(.declined),
            [
                "You declined the invitation", "Bo declined the invitation", "Ada and Bo declined the invitations",
                "You declined the invitation · Bo declined the invitation",
            ]
        ),
        (
            .kind(.knocked),
            ["You asked to join", "Bo asked to join", "Ada and Bo asked to join", "You and Bo asked to join"]
        ),
        (
            .kind(.invited),
            ["You were invited", "Bo was invited", "Ada and Bo were invited", "You and Bo were invited"]
        ),
        (
            .kind(.uninvited),
            [
                "Your invitation was revoked", "The invitation for Bo was revoked",
                "The invitations for Ada and Bo were revoked",
                "Your invitation was revoked · The invitation for Bo was revoked",
            ]
        ),
        (
            .kind(.removed),
            ["You were removed", "Bo was removed", "Ada and Bo were removed", "You and Bo were removed"]
        ),
        (.kind(.banned), ["You were banned", "Bo was banned", "Ada and Bo were banned", "You and Bo were banned"]),
        (
            .kind(.unbanned),
            ["You were unbanned", "Bo was unbanned", "Ada and Bo were unbanned", "You and Bo were unbanned"]
        ),
        (
            .kind(.avatarChanged),
            [
                "You changed your avatar", "Bo changed their avatar", "Ada and Bo changed their avatars",
                "You changed your avatar · Bo changed their avatar",
            ]
        ),
        (
            .kind(.renamed),
            [
                "You changed your name", "Bo changed their name", "Ada and Bo changed their names",
                "You changed your name · Bo changed their name",
            ]
        ),
    ]

    @Test("A summary of several members is one sentence, or one for the user and one for the others")
    func summaries() {
        for (change, expected) in Self.changesTable {
            let found = [[Self.you], [Self.bo], [Self.ada, Self.bo], [Self.you, Self.bo]].map { users in
                var group = EventGroup(
                    lines: [Self.line(Self.ada), Self.line(Self.bo)], isExpanded: false)
                group.segments = [.members(change, users)]
                return Self.texts.summary(group)
            }
            #expect(found == expected, "\(change)")
        }
    }

    private static func line(_ participant: EventGroup.Participant) -> EventGroup.Line {
        EventGroup.Line(
            id: MessageID("e"), event: RoomEvent(.joined, subject: MemberID("m")), actor: participant,
            subject: participant, sentAt: Fixtures.date)
    }
}
