import ChatCore
import Foundation

/// The conversation in the screenshots.
nonisolated enum FixtureConversation {
    static let ann = Member(id: MemberID("ann"), displayName: "Ann Lindqvist", kind: .person)
    static let tomas = Member(
        id: MemberID("tomas"), displayName: "Tomás Herrera", kind: .person, avatar: FixtureMedia.photo(2))
    static let ida = Member(id: MemberID("ida"), displayName: "Ida Bergström", kind: .person)
    static let members = [FixtureService.ownMember, ann, tomas, ida]

    /// Room events, each placed before an entry of ``lines``.
    private static let events: [(before: Int, by: Member, event: RoomEvent)] = [
        (3, ann, RoomEvent(.invited, subject: ida.id)), (3, ida, RoomEvent(.joined, subject: ida.id)),
        (3, tomas, RoomEvent(.topicSet, after: "Autumn, 96 pages")),
        (3, ann, RoomEvent(.roomNamed, after: "Autumn issue")),
    ]

    private struct Line {
        var sender: Member
        var minutesAgo: Double
        var text: String
        /// The number of the line being replied to.
        var replyTo: Int?
        var reactions: [(text: String, by: [Member])] = []
        var isEdited = false
        /// The number of an attached photo.
        var photo: Int?
    }

    static let headlineMessage = MessageID("m8")
    static let headlineText = "The headline on the new cover:"
    /// The last message, which the room list shows too.
    static let lastText = "Love both of them!"

    private static let lines = [
        Line(sender: ann, minutesAgo: 1506, text: "Did the new type specimen arrive?"),
        Line(
            sender: FixtureService.ownMember, minutesAgo: 1502,
            text: "It did. It’s gorgeous. The sheets are on the big table."),
        Line(sender: tomas, minutesAgo: 1500, text: "Then I know what I’m doing tomorrow morning ☕"),
        Line(sender: ann, minutesAgo: 47, text: "Good morning! I read the draft of the autumn issue on the train."),
        Line(
            sender: ann, minutesAgo: 46,
            text: "Two things:\n1. The opening is a paragraph too long.\n"
                + "2. The interview deserves the center spread with the big portrait.",
            reactions: [("👍", [tomas, FixtureService.ownMember])]),
        Line(sender: tomas, minutesAgo: 41, text: "Agreed on both. I can reset the interview this afternoon."),
        Line(
            sender: FixtureService.ownMember, minutesAgo: 38, text: "Great, I’m cutting the opening now.",
            isEdited: true),
        Line(sender: FixtureService.ownMember, minutesAgo: 37, text: "Done: **420 words**, down from 590."),
        // As wide as fits in the narrowest window.
        Line(
            sender: tomas, minutesAgo: 5,
            text: "\(headlineText)\n```css\nh1 {\n  color: #8a2846;\n  font-size: 3rem;\n}\n```"),
        Line(sender: tomas, minutesAgo: 4, text: "", reactions: [("😍", [ann, ida])], photo: 3),
        Line(sender: ida, minutesAgo: 2, text: lastText, replyTo: 8),
    ]

    static func messages(in room: RoomID, with media: FixtureMedia, now: Date) -> [Message] {
        let textMessages = lines.enumerated().map { index, line in
            let sentAt = now.addingTimeInterval(-60 * line.minutesAgo)
            return Message(
                id: MessageID("m\(index)"), roomID: room, sender: line.sender.id, text: line.text, sentAt: sentAt,
                position: Int64(10 * index), replyTo: line.replyTo.map { MessageID("m\($0)") },
                editedAt: line.isEdited ? now : nil, kind: line.photo == nil ? .text : .image,
                attachments: line.photo.map { [media.photo($0)] } ?? [],
                reactions: line.reactions.map { Reaction(text: $0.text, senders: $0.by.map(\.id)) })
        }
        let happened = events.enumerated().map { index, fixture in
            Message(
                id: MessageID("e\(index)"), roomID: room, sender: fixture.by.id, text: "",
                sentAt: textMessages[fixture.before].sentAt.addingTimeInterval(-60 * Double(5 - index)),
                position: textMessages[fixture.before].position - 5 + Int64(index), kind: .event, event: fixture.event)
        }
        var all = (textMessages + happened).sorted { $0.position < $1.position }
        for (id, members) in [("m4", [ida]), ("m9", [ann])] {
            guard let index = all.firstIndex(where: { $0.id == MessageID(id) }) else { continue }
            all[index].readReceipts = members.map { member in
                ReadReceipt(member: member.id, message: all[index].id, readAt: now)
            }
        }
        return all
    }

    private static let phrases = [
        "Thursday at seven?", "Yes!", "I can bring the Rheinberger, all four parts, and the Brahms.",
        "The hall is ours until ten, and the heating should be working again by then. They came to fix it on Monday.",
        "Who has the key?", "I do 🔑",
        "From bar 32 on, the tenors come in early every single time. Could we take it slowly once with the piano, "
            + "and then twice without? It’s only eight bars, and they’re the most beautiful ones of the whole piece.",
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

    /// The first readable message of ``sealedMessages(in:now:)``.
    static let readableMessage = MessageID("s\(SealReason.allCases.count)")

    /// Sealed messages, one for each reason, and readable messages, one for each mark.
    static func sealedMessages(in room: RoomID, now: Date) -> [Message] {
        let reasons = SealReason.allCases
        let lines: [(text: String, trust: MessageTrust?)] = [
            ("Who bakes the cake?", .unproven), ("I do, if someone brings the candles", nil),
            ("Is this encrypted?", .notEncrypted), ("It’s me, from my new phone", .changedIdentity),
            ("Not a word to Ann!", nil),
        ]
        let senders = [tomas, tomas, ida, FixtureService.ownMember, ida]
        let count = reasons.count + lines.count
        return (0..<count).map { index in
            var message = Message(
                id: MessageID("s\(index)"), roomID: room, sender: senders[index % senders.count].id, text: "",
                sentAt: now.addingTimeInterval(-300 * Double(count - index)), position: Int64(index))
            if index < reasons.count {
                message.content = Message.Content(sealed: reasons[index])
            } else {
                message.text = lines[index - reasons.count].text
                message.trust = lines[index - reasons.count].trust
            }
            return message
        }
    }

    /// - Parameter isPublished: whether to omit rooms named after what they demonstrate.
    static func rooms(isPublished: Bool, now: Date) -> [RoomSummary] {
        func room(
            _ id: RoomID, _ name: String, _ kind: Room.Kind = .group, photo: Int? = nil, hoursAgo: Double,
            unread: Int = 0,
            mentions: Int = 0, draft: String? = nil, last: (sender: String, isOwn: Bool, text: String)? = nil
        ) -> RoomSummary {
            let date = now.addingTimeInterval(-3600 * hoursAgo)
            return RoomSummary(
                room: Room(id: id, name: name, kind: kind, avatar: photo.map(FixtureMedia.photo)),
                lastMessage: last.map { .init(senderName: $0.sender, isOwn: $0.isOwn, text: $0.text, sentAt: date) },
                lastActivity: date, unreadCount: unread, draftPreview: draft, mentionCount: mentions)
        }
        let rooms = [
            room(
                FixtureService.team, "Autumn issue", hoursAgo: 0.03, unread: isPublished ? 0 : 2,
                last: ("Ida Bergström", false, lastText)),
            room(
                RoomID("notes"), "Notes", .notes, hoursAgo: 2,
                last: ("Robin", true, "Ask the printer about the uncoated stock")),
            room(
                FixtureService.choir, "Choir", hoursAgo: 26, unread: 128, mentions: 2,
                last: ("Ida Bergström", false, "Thursday at seven, bring the Rheinberger")),
            room(
                RoomID("welcome"), "Welcome", .guide, hoursAgo: 75, draft: "How do I edit",
                last: ("Guide", false, "Or ask me about drafts, files, search, or commands.")),
            room(
                RoomID("bikes"), "Bike repair", hoursAgo: 98,
                last: ("Tomás Herrera", false, "The brake pads are in")),
            room(
                RoomID("hiking"), "Hiking", photo: 1, hoursAgo: 120, last: ("Robin", true, "Saturday, the first train")),
            room(FixtureService.empty, "Summer house", hoursAgo: 400),
            room(
                RoomID("friends"), "Old friends", hoursAgo: 450, last: ("Ann Lindqvist", false, "See you in spring!")),
        ]
        guard !isPublished else { return rooms }
        return rooms + [
            room(
                FixtureService.files, "Files", hoursAgo: 500, last: ("Ann Lindqvist", false, "From the hill, yesterday")
            ),
            room(FixtureService.mixed, "Printers", hoursAgo: 600, last: ("Tomás Herrera", false, "Thursday at seven?")),
            room(FixtureService.images, "Album", hoursAgo: 700, last: ("Ida Bergström", false, "All of last summer")),
            room(
                FixtureService.sealed, "Birthday", hoursAgo: 800, last: ("Tomás Herrera", false, "Not a word to Ann!")),
        ]
    }
}
