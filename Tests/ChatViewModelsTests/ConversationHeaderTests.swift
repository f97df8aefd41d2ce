import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Testing

/// The header and empty state of a room, and the cards of mentioned users.
@Suite struct ConversationHeaderTests {
    @Test("The subtitle is the topic, or else the member count; a direct chat shows its name once")
    func subtitleIsTopicOrMemberCount() {
        var header = ConversationHeader(name: "Tea", kind: .group, otherCount: 1)
        #expect(header.subtitle(.untranslated) == "2 members")
        header.headline.memberCount = 7
        #expect(header.subtitle(.untranslated) == "7 members")
        header.headline.topic = "Tides"
        #expect(header.subtitle(.untranslated) == "Tides")
        #expect(ConversationHeader(name: "Notes", kind: .notes).subtitle(.untranslated) == "Only you")
        #expect(ConversationHeader(name: "Ann", kind: .direct, otherCount: 1).subtitle(.untranslated) == "")
    }

    @Test("Screen readers read the title with its subtitle")
    func accessibleTitle() {
        #expect(ConversationHeader(name: "Tea", kind: .group).accessibleTitle(.untranslated) == "Tea, Only you")
        #expect(ConversationHeader(name: "Ann", kind: .direct).accessibleTitle(.untranslated) == "Ann")
    }

    @Test("An empty room has a title and a description")
    func emptyRoomHasADescription() {
        let room = ConversationHeader(name: "Tea", kind: .group)
        #expect(room.emptyTitle(.untranslated) == "Tea")
        #expect(room.emptyDescription(.untranslated) == "No messages yet")
        let notes = ConversationHeader(name: "Tea", kind: .notes)
        #expect(notes.emptyTitle(.untranslated) == "Notes")
        #expect(notes.emptyDescription(.untranslated) == "Notes stay on this computer.")
    }

    @Test("The composer names its room, unless the user is alone in it")
    func placeholderNamesTheRoom() {
        func placeholder(_ kind: Room.Kind, others: Int = 0, members: Int? = nil) -> String {
            ConversationHeader(
                name: "Tea", kind: kind, headline: RoomHeadline(memberCount: members), otherCount: others
            ).placeholder(.untranslated)
        }
        #expect(placeholder(.group, others: 1) == "Message Tea…")
        #expect(placeholder(.group, members: 7) == "Message Tea…")
        #expect(placeholder(.direct) == "Message Tea…", "also before the other member is known")
        #expect(placeholder(.guide) == "Message Tea…")
        #expect(placeholder(.group) == "Write a message…")
        #expect(placeholder(.notes) == "Write a message…")
    }

    private func card(of target: MentionTarget, kind: Room.Kind = .group) -> MentionCard? {
        MentionCard(
            Mention(target, text: "@written"), members: [Fixtures.own, Fixtures.other], kind: kind,
            room: { $0 == "!tea" ? ("Tea", "mxc://tea") : (nil, nil) }, translator: .untranslated)
    }

    @Test("A card shows whom a mention targets, whatever its text")
    func cardShowsTheMentionTarget() {
        let other = card(of: .member("other"))
        #expect(other?.name == "Alex" && other?.identifier == "other" && other?.opening == .directChat("other"))
        #expect(card(of: .member("unknown"))?.name == "written")
        #expect(card(of: .everyone)?.avatarFallback == .everyone && card(of: .everyone)?.opening == nil)
        let room = card(of: .room("!tea"))
        #expect(room?.name == "Tea" && room?.avatarURI == "mxc://tea" && room?.opening == .room("!tea"))
        #expect(card(of: .room("!x"))?.name == "written")
        #expect(card(of: .custom("x")) == nil)
        #expect(other?.accessibleText == "Alex, other")
        #expect(other?.opening?.button(.untranslated) == "_Message" && other?.opening?.address == "other")
        #expect(room?.opening?.button(.untranslated) == "_Open" && room?.opening?.address == "!tea")
    }

    @Test("A card offers no direct chat with oneself or with the other member of a direct chat")
    func cardOffersNoDirectChatWithOneself() {
        #expect(card(of: .member("own"))?.opening == nil)
        #expect(card(of: .member("other"), kind: .direct)?.opening == nil)
    }
}
