import ChatCore
import Foundation

/// The conversation in the screenshots.
nonisolated enum FixtureConversation {
    static let ann = Member(id: MemberID("ann"), displayName: "Ann Lindqvist", kind: .person)
    static let tomas = Member(id: MemberID("tomas"), displayName: "Tomás Herrera", kind: .person)
    static let ida = Member(id: MemberID("ida"), displayName: "Ida Berg", kind: .person)
    static let members = [FixtureService.ownMember, ann, tomas, ida]

    /// Room events, each placed before an entry of ``lines``.
    private static let events: [(before: Int, by: Member, event: RoomEvent)] = [
        (3, ann, RoomEvent(.invited, subject: ida.id)), (3, ida, RoomEvent(.joined, subject: ida.id)),
        (3, tomas, RoomEvent(.topicSet, after: "Autumn, 96 pages")),
        (9, ann, RoomEvent(.roomNamed, after: "Autumn issue")),
    ]

    private static let lines: [(sender: Member, minutesAgo: Double, text: String)] = [
        (ann, 1506, "Did the new type specimen arrive?"),
        (FixtureService.ownMember, 1502, "It did, and it is lovely. I put the sheets on the big table."),
        (tomas, 1500, "Then I know what I am doing tomorrow morning ☕"),
        (ann, 47, "Good morning! I read the draft of the autumn issue on the train."),
        (
            ann, 46,
            "Two things:\n1. The opening is too long by a paragraph.\n"
                + "2. The interview deserves the centre pages, with the big portrait."
        ),
        (tomas, 41, "Agreed on both. I can set the interview again this afternoon."),
        (FixtureService.ownMember, 38, "Great. I cut the opening right now, it wanted to be shorter anyway."),
        (FixtureService.ownMember, 37, "Done: 420 words, was 590."),
        (ann, 12, "Much better!"),
        (tomas, 4, "I tried the headline in small caps as well — have a look when you are back."),
    ]

    static func messages(in room: RoomID, now: Date) -> [Message] {
        let textMessages = lines.enumerated().map { index, line in
            Message(
                id: MessageID("m\(index)"), roomID: room, sender: line.sender.id, text: line.text,
                sentAt: now.addingTimeInterval(-60 * line.minutesAgo), position: Int64(10 * index),
                editedAt: index == 6 ? now : nil)
        }
        let happened = events.enumerated().map { index, fixture in
            Message(
                id: MessageID("e\(index)"), roomID: room, sender: fixture.by.id, text: "",
                sentAt: textMessages[fixture.before].sentAt.addingTimeInterval(-60 * Double(5 - index)),
                position: textMessages[fixture.before].position - 5 + Int64(index), kind: .event, event: fixture.event)
        }
        var all = (textMessages + happened).sorted { $0.position < $1.position }
        let readers = [(8, [ida]), (6, [tomas, ann]), (10, [tomas])]
        for (index, members) in readers where index < all.count {
            all[index].readReceipts = members.map { member in
                ReadReceipt(member: member.id, message: all[index].id, readAt: now)
            }
        }
        return all
    }

    private static let phrases = [
        "Thursday at seven?", "Yes!", "I can bring the Rheinberger, all four parts, and the Brahms as well.",
        "The hall is ours until ten, and the heating should work again by then; somebody was there on Monday.",
        "Who has the key?", "I do 🔑",
        "From bar 32 the tenors come in too early every single time. Could we take it slowly, once, with the piano, "
            + "and then twice without? It is only eight bars, and they are the most beautiful ones of the whole piece.",
        "Fine with me.", "See you there", "Two altos are ill\nand one is on a train",
    ]

    /// Returns a thousand messages over three weeks.
    static func longMessages(in room: RoomID, now: Date) -> [Message] {
        (0..<1000).map { index in
            let sender = [ann, ann, tomas, FixtureService.ownMember, tomas, ann, FixtureService.ownMember][
                index * 5 % 7]
            return Message(
                id: MessageID("c\(index)"), roomID: room, sender: sender.id,
                text: phrases[index * 7 % phrases.count], sentAt: now.addingTimeInterval(-1800 * Double(1000 - index)),
                position: Int64(index), replyTo: index % 9 == 8 ? MessageID("c\(index - 1 - index % 50)") : nil)
        }
    }

    static func rooms(now: Date) -> [RoomSummary] {
        func room(
            _ id: RoomID, _ name: String, _ kind: Room.Kind = .group, hoursAgo: Double, unread: Int = 0,
            mentions: Int = 0, draft: String? = nil, last: (sender: String, isOwn: Bool, text: String)? = nil
        ) -> RoomSummary {
            let date = now.addingTimeInterval(-3600 * hoursAgo)
            return RoomSummary(
                room: Room(id: id, name: name, kind: kind),
                lastMessage: last.map { .init(senderName: $0.sender, isOwn: $0.isOwn, text: $0.text, sentAt: date) },
                lastActivity: date, unreadCount: unread, draftPreview: draft, mentionCount: mentions)
        }
        return [
            room(
                FixtureService.team, "Autumn issue", hoursAgo: 0.07, unread: 2,
                last: (
                    "Tomás Herrera", false,
                    "I tried the headline in small caps as well — have a look when you are back."
                )),
            room(
                RoomID("notes"), "Notes", .notes, hoursAgo: 2,
                last: ("Robin", true, "Ask the printer about the uncoated stock")),
            room(
                FixtureService.choir, "Choir", hoursAgo: 26, unread: 128, mentions: 2,
                last: ("Ida", false, "Thursday at seven, bring the Rheinberger")),
            room(
                RoomID("welcome"), "Welcome", .guide, hoursAgo: 75, draft: "What does Shift",
                last: ("Guide", false, "Ask me anything")),
            room(FixtureService.empty, "Summer house", hoursAgo: 400),
            room(FixtureService.files, "Files", hoursAgo: 500, last: ("Ann", false, "From the hill, yesterday")),
            room(FixtureService.mixed, "Printers", hoursAgo: 600, last: ("Tomás", false, "Thursday at seven?")),
            room(FixtureService.images, "Album", hoursAgo: 700, last: ("Ida", false, "All of last summer")),
        ]
    }
}
