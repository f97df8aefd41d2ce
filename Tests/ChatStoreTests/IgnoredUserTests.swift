import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Messages of ignored users, which are hidden until their senders are no longer ignored.
@Suite(.timeLimit(.minutes(10))) struct IgnoredUserTests: SyncTesting {
    let folder = TemporaryFolder()
    private let me = MemberID("@me:a")
    private let bob = MemberID("@bob:a")

    private func join(_ batch: inout RoomBatch) {
        batch.members = [
            Member(id: me, displayName: "Me", kind: .own), Member(id: ann, displayName: "Ann", kind: .person),
            Member(id: bob, displayName: "Bob", kind: .person),
        ]
    }

    private func summary(_ store: ChatStore) async throws -> RoomSummary {
        try #require(try await store.roomSummaries().first)
    }

    /// The texts of the room, and then the numbers of unread messages and mentions.
    private func shown(_ store: ChatStore) async throws -> [String] {
        let summary = try await summary(store)
        return try await texts(store) + ["\(summary.unreadCount) unread, \(summary.mentionCount) mentions"]
    }

    @Test("Messages of an ignored user are neither shown, found nor counted, and all of it returns")
    func hiding() async throws {
        let store = try await open()
        var mention = message(3, by: bob)
        mention.notificationLevel = .mention
        try await apply([event(1), .message(message(2, by: bob)), .message(mention)], to: store, join)
        #expect(try await shown(store) == ["1", "2", "3", "3 unread, 1 mentions"])
        #expect(try await store.setIgnoredUsers([bob]) == [room])
        #expect(try await store.setIgnoredUsers([bob]).isEmpty, "nothing changes")
        #expect(try await shown(store) == ["1", "1 unread, 0 mentions"])
        #expect(try await summary(store).lastMessage?.text == "1")
        #expect(try await store.messages([MessageID("$2"), MessageID("$1")], in: room).map(\.text) == ["1"])
        #expect(try await store.search(SearchQuery(text: "2")).messages.isEmpty)
        #expect(try await store.search(SearchQuery(sender: bob)).messages.isEmpty)
        let around = try await store.messages(in: room, around: .message(MessageID("$2")), limit: 5)
        #expect(around.messages.map(\.text) == ["1"])
        #expect(try await store.position(of: MessageID("$2"), in: room) != nil)
        #expect(try await store.ignoredUsers() == [bob])
        #expect(try await store.snapshot(of: room, limit: 5)?.page.messages.map(\.text) == ["1"])
        // A server may send what it should not.
        let change = try await apply([.message(message(4, by: bob)), event(5)], to: store)
        #expect(change.changed.allSatisfy { $0.sender == ann } && change.arrived.map(\.message.text) == ["5"])
        #expect(try await shown(store) == ["1", "5", "2 unread, 0 mentions"])
        _ = try await store.markRead(MessageID("$1"), in: room)
        #expect(try await shown(store) == ["1", "5", "1 unread, 0 mentions"])
        #expect(try await store.setIgnoredUsers([]) == [room])
        #expect(try await shown(store) == ["1", "2", "3", "4", "5", "4 unread, 1 mentions"])
        #expect(try await store.search(SearchQuery(text: "2")).messages.count == 1)
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("A long list hides what a short one does")
    func longList() async throws {
        let store = try await open()
        try await apply([event(1), .message(message(2, by: bob))], to: store, join)
        let others = (0..<200).map { MemberID("@u\($0):a") }
        #expect(try await store.setIgnoredUsers(Set(others + [bob])) == [room])
        #expect(try await shown(store) == ["1", "1 unread, 0 mentions"])
        #expect(try await store.setIgnoredUsers(Set(others)) == [room])
        #expect(try await shown(store) == ["1", "2", "2 unread, 0 mentions"])
        #expect(try await store.setIgnoredUsers([]).isEmpty)
        await store.close()
    }

    @Test("The list that comes with a sync applies to the messages of the same sync, and observers start over")
    func listOfASync() async throws {
        let store = try await open()
        try await apply([event(1), .message(message(2, by: bob))], to: store, join)
        var batch = RoomBatch(id: room, createdAt: Fixtures.date, events: [.message(message(3, by: bob)), event(4)])
        var sync = SyncBatch(rooms: [batch])
        sync.ignoredUsers = [bob, MemberID("@unknown:a")]
        var changes = try await store.apply(sync)
        #expect(changes.map(\.needsReload) == [true] && changes[0].changed.allSatisfy { $0.sender == ann })
        #expect(try await shown(store) == ["1", "4", "2 unread, 0 mentions"])
        sync.rooms = []
        #expect(try await store.apply(sync).isEmpty, "the same list changes nothing")
        sync.ignoredUsers = []
        changes = try await store.apply(sync)
        #expect(changes.map(\.room) == [room] && changes.map(\.needsReload) == [true])
        #expect(try await shown(store) == ["1", "2", "3", "4", "4 unread, 0 mentions"])
        batch.events = []
        #expect(try await store.apply(SyncBatch(rooms: [batch])).map(\.needsReload) == [false])
        await store.close()
    }

    @Test("Edits, deletions and marks of hidden messages apply, without a change of the counts")
    func changesOfHiddenMessages() async throws {
        let store = try await open()
        let hidden = (1...3).map { TimelineEvent.message(message($0, by: bob)) }
        try await apply(hidden + [event(4)], to: store, join)
        try await store.setIgnoredUsers([bob])
        var mention = MessageChange(
            id: "$e", target: MessageID("$2"), sender: bob, at: Fixtures.date, kind: .edit(Wording("edited")))
        mention.isMention = true
        let result = try await apply([change("$d", 1, .deletion), .change(mention)], to: store)
        #expect(result.changed.isEmpty && result.arrived.isEmpty)
        #expect(try await shown(store) == ["4", "1 unread, 0 mentions"])
        try await store.setIgnoredUsers([])
        #expect(try await shown(store) == ["", "edited", "3", "4", "3 unread, 1 mentions"])
        await store.close()
    }

    @Test("Reactions of an ignored user are hidden, and room events are not")
    func otherEvents() async throws {
        let store = try await open()
        let named = NewMessage(
            id: MessageID("$n"), sender: bob, event: RoomEvent(.roomNamed, after: "Garden"), sentAt: Fixtures.date)
        try await apply(
            [
                event(1), change("$r", 1, .reaction("👍"), by: bob.rawValue), change("$s", 1, .reaction("👍")),
                .message(named),
            ], to: store, join)
        func reactions() async throws -> [Reaction] {
            try await store.messages([MessageID("$1")], in: room).first?.reactions ?? []
        }
        try await store.setIgnoredUsers([bob])
        #expect(try await reactions() == [Reaction(text: "👍", senders: [ann])])
        #expect(try await store.messages(in: room, before: .max, limit: 5).messages.map(\.id.rawValue) == ["$1", "$n"])
        try await store.setIgnoredUsers([])
        #expect(try await reactions().first?.senders.count == 2)
        await store.close()
    }

    @Test("Receipts and the read marker at a hidden message are shown at the message before it, the ignored user's not")
    func receipts() async throws {
        let store = try await open()
        let carl = MemberID("@carl:a")
        func reader() async throws -> String? {
            try await store.messages(in: room, before: .max, limit: 9).messages
                .first { $0.readReceipts.contains { $0.member == carl } }?.id.rawValue
        }
        try await apply([event(1), .message(message(2, by: bob)), event(3)], to: store) {
            self.join(&$0)
            $0.receipts = [ReadReceipt(member: carl, message: MessageID("$2"), readAt: Fixtures.date)]
            $0.fullyReadMarkers = [MessageID("$2")]
        }
        #expect(try await reader() == "$2")
        try await store.setIgnoredUsers([bob])
        #expect(try await reader() == "$1")
        #expect(try await store.messages([MessageID("$1")], in: room).first?.readReceipts.map(\.member) == [carl])
        #expect(try await store.snapshot(of: room, limit: 5)?.fullyReadMarker == MessageID("$1"))
        let change = try await apply([.message(message(4, by: bob))], to: store) {
            $0.receipts = [ReadReceipt(member: carl, message: MessageID("$4"), readAt: Fixtures.date)]
        }
        #expect(change.changed.map(\.text) == ["1", "3"], "where it was and where it is shown")
        #expect(try await reader() == "$3")
        await store.close()
    }

    @Test("When a gap before a hidden message is filled, the shown message that loses receipts is published")
    func receiptsBehindAHiddenMessage() async throws {
        let store = try await open()
        let carl = MemberID("@carl:a")
        try await apply([event(1), .message(message(2, by: bob))], to: store, join)
        try await apply([event(9)], gap: "p9", to: store) {
            $0.receipts = [ReadReceipt(member: carl, message: MessageID("$2"), readAt: Fixtures.date)]
        }
        try await store.setIgnoredUsers([bob])
        let gap = try #require(try await store.gaps(in: room).first)
        let change = try await store.fill(gap, in: room, with: [event(8)], next: "p8")
        #expect(change?.changed.map(\.text) == ["1", "8"])
        await store.close()
    }

    @Test("What the server counted before its sender was ignored is not counted any more, and is counted again later")
    func serverCount() async throws {
        let store = try await open()
        func counts() async throws -> [Int] {
            let summary = try await summary(store)
            return [summary.unreadCount, summary.mentionCount]
        }
        try await apply([event(1)], to: store) {
            self.join(&$0)
            $0.counted = UnreadCount(messages: 0, mentions: 0)
        }
        var mention = message(9, by: bob)
        mention.notificationLevel = .mention
        try await apply([event(8), .message(mention)], gap: "p8", to: store) {
            $0.counted = UnreadCount(messages: 8, mentions: 2)
        }
        #expect(try await counts() == [8, 2])
        try await store.setIgnoredUsers([bob])
        #expect(try await counts() == [7, 1])
        // The server goes on counting what it had counted.
        try await apply([event(10)], to: store) { $0.counted = UnreadCount(messages: 9, mentions: 2) }
        #expect(try await counts() == [8, 1])
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(6), .message(message(7, by: bob))], next: "p6")
        #expect(try await counts() == [7, 1], "another one is known to be theirs")
        try await store.setIgnoredUsers([])
        #expect(try await counts() == [9, 2])
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("Invitations by a user who is ignored later are hidden")
    func invitations() async throws {
        let store = try await open()
        try await apply([event(1)], to: store, join)
        var batch = SyncBatch()
        var invitation = Invitation(room: RoomID("!other"), name: nil, receivedAt: Fixtures.date)
        invitation.inviter = bob
        batch.invitations = [invitation]
        _ = try await store.apply(batch)
        #expect(try await store.invitations().count == 1)
        try await store.setIgnoredUsers([bob])
        #expect(try await store.invitations().isEmpty)
        try await store.setIgnoredUsers([])
        #expect(try await store.invitations().count == 1)
        await store.close()
    }

    @Test("A page has as many messages as there are, however many are hidden between them")
    func pages() async throws {
        let store = try await open()
        let events = (1...40).map { TimelineEvent.message(message($0, by: $0 % 10 == 0 ? ann : bob)) }
        try await apply(events, to: store, join)
        try await store.setIgnoredUsers([bob])
        let page = try await store.messages(in: room, before: .max, limit: 3)
        #expect(page.messages.map(\.text) == ["20", "30", "40"] && page.hasOlder && !page.hasNewer)
        let older = try await store.messages(in: room, before: page.messages[0].position, limit: 3)
        #expect(older.messages.map(\.text) == ["10"] && !older.hasOlder && older.hasNewer)
        await store.close()
    }
}
