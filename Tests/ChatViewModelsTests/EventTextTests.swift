import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// Sentences about room events.
@Suite struct EventTextTests {
    private let texts = EventText(.untranslated)

    private func line(
        _ event: RoomEvent, by actor: EventGroup.Participant = .named("Ada"),
        of subject: EventGroup.Participant = .named("Bo")
    ) -> EventGroup.Line {
        EventGroup.Line(id: MessageID("e"), event: event, actor: actor, subject: subject, sentAt: Fixtures.date)
    }

    @Test(
        "Names are joined with commas and “and”",
        arguments: [
            (0, ""), (1, "Ada"), (2, "Ada and Bo"), (3, "Ada, Bo, and Cy"), (5, "Ada, Bo, and 3 others"),
        ])
    func namesAreListed(count: Int, expected: String) {
        let names = ["Ada", "Bo", "Cy", "Di", "{first}"]
        #expect(texts.names(names.prefix(count).map { .named($0) }) == expected)
    }

    @Test("The user is addressed as you, and names may look like placeholders")
    func currentUserIsYou() {
        #expect(texts.names([.named("{last}"), .currentUser]) == "{last} and you")
        #expect(texts.names([.currentUser, .named("Bo")]) == "You and Bo")
        let role = RoomEvent(.roleSet, after: RoomEvent.Role.moderator.rawValue)
        #expect(texts.sentence(line(role, of: .currentUser)) == "Ada made you a moderator")
        #expect(
            texts.sentence(line(RoomEvent(.roomNamed, after: "{actor}"))) == "Ada changed the room name to “{actor}”")
        #expect(texts.sentence(line(RoomEvent(.joined), of: .named("{count}"))) == "{count} joined")
    }

    @Test("A changed room rule is described by its value")
    func ruleChangesShowTheirValue() {
        #expect(texts.sentence(line(RoomEvent(.joinRuleSet, after: "public"))) == "Ada allowed anyone to join")
        #expect(texts.sentence(line(RoomEvent(.joinRuleSet, after: "other"))) == "Ada changed who can join")
        #expect(
            texts.sentence(line(RoomEvent(.historyVisibilitySet, after: "shared")))
                == "Ada made the message history visible to all members")
    }

    @Test("A summary mentions each change once")
    func summaryMentionsEachChangeOnce() {
        let lines = [
            line(RoomEvent(.joined, subject: MemberID("a")), of: .named("Ada")),
            line(RoomEvent(.joined, subject: MemberID("b")), of: .named("Bo")),
            line(RoomEvent(.topicSet, after: "Tea"), by: .currentUser),
        ]
        #expect(
            texts.summary(EventGroup(lines: lines, isExpanded: false))
                == "Ada and Bo joined · You changed the topic to “Tea”")
    }
}
