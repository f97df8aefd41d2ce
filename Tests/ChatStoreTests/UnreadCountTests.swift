import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Applying sync batches: read positions and unread counts.
@Suite(.timeLimit(.minutes(10))) struct UnreadCountTests: SyncTesting {
    let folder = TemporaryFolder()

    @Test func messagesReadOnAnotherDeviceAreRead() async throws {
        let store = try await open()
        try await apply([event(1), event(2), event(3)], to: store) { $0.fullyReadMarkers = [MessageID("$2")] }
        #expect(try await store.roomSummaries().first?.unreadCount == 1)
        try await apply([event(4)], to: store) { $0.fullyReadMarkers = [MessageID("$1")] }
        #expect(try await store.roomSummaries().first?.unreadCount == 2, "never back")
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$4")] }
        #expect(try await store.roomSummaries().first?.unreadCount == 0)
    }

    /// A read marker may be at a reaction, a state event or an unknown event.
    @Test func readMarkerAtANonMessageCoversEarlierMessages() async throws {
        let store = try await open()
        func unread() async throws -> Int? { try await store.roomSummaries().first?.unreadCount }
        try await apply([event(1), event(2), .silent(MessageID("$r")), event(3)], to: store) {
            $0.fullyReadMarkers = [MessageID("$r")]
        }
        #expect(try await unread() == 1)
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$5"), MessageID("$1")] }
        #expect(try await unread() == 1, "it is not known yet")
        try await apply([event(4), .silent(MessageID("$5")), event(6)], to: store)
        #expect(try await unread() == 1)
        #expect(try await store.snapshot(of: room, limit: 5)?.fullyReadMarker == MessageID("$4"))
        // One marker within the gap, one at an event after it.
        try await apply([.silent(MessageID("$11")), event(12)], gap: "p11", to: store) {
            $0.fullyReadMarkers = [MessageID("$8"), MessageID("$11")]
        }
        #expect(try await unread() == 1, "it is before the one and after all that is missing")
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(7), event(8), event(9), event(10)], next: "p7")
        #expect(try await unread() == 1)
    }

    @Test func unreadCountIsALowerBoundWhileHistoryIsMissing() async throws {
        let store = try await open()
        func unread() async throws -> String? {
            try await store.roomSummaries().first.map {
                "\($0.unreadCount)\($0.mayHaveMoreUnread ? "+" : "")"
            }
        }
        try await apply([event(8), event(9)], gap: "p8", to: store)
        #expect(try await unread() == "2+", "nobody knows of a mark")
        #expect(try await store.uncountedRooms(limit: 5) == [room])
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$5")] }
        let gap = try #require(try await store.uncountedGap(in: room))
        _ = try await store.fill(gap, in: room, with: [event(6), event(7)], next: "p6")
        #expect(try await unread() == "4+")
        let next = try #require(try await store.uncountedGap(in: room))
        _ = try await store.fill(next, in: room, with: [event(4), event(5)], next: "p4")
        #expect(try await unread() == "4")
        #expect(try await store.uncountedGap(in: room) == nil, "what is before it is read")
        let oldest = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(oldest, in: room, with: [event(3)], next: nil)
        #expect(try await unread() == "4")
    }

    @Test("A count that no sum can hold is bounded")
    func absurdServerCountIsBounded() async throws {
        let store = try await open()
        try await apply([event(1)], to: store)
        try await apply([event(9)], gap: "p9", to: store) { $0.counted = UnreadCount(messages: .max, mentions: .max) }
        try await apply([event(10)], to: store)
        let summary = try #require(try await store.roomSummaries().first)
        #expect((1...2_000_000_000).contains(summary.unreadCount) && (1...2_000_000_000).contains(summary.mentionCount))
        await store.close()
    }

    @Test func serverCountIsUsedWhereMessagesAreMissing() async throws {
        let store = try await open()
        func counts() async throws -> [Int] {
            let summary = try #require(try await store.roomSummaries().first)
            #expect(!summary.mayHaveMoreUnread)
            return [summary.unreadCount, summary.mentionCount]
        }
        try await apply([event(1)], to: store) { $0.counted = UnreadCount(messages: 0, mentions: 0) }
        #expect(try await counts() == [0, 0])
        try await apply([event(8), event(9)], gap: "p8", to: store) {
            $0.counted = UnreadCount(messages: 8, mentions: 2)
        }
        #expect(try await counts() == [8, 2])
        #expect(try await store.uncountedRooms(limit: 5).isEmpty)
        try await apply([event(10)], to: store)
        #expect(try await counts() == [9, 2])
        var mention = message(7)
        mention.notificationLevel = .mention
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(6), .message(mention)], next: "p6")
        #expect(try await counts() == [9, 2], "what is fetched is among them")
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$9")] }
        #expect(try await counts() == [1, 0])
        // The marker is in the gap: messages there, and all before it, may be read.
        try await apply([event(11), event(12), event(13)], to: store)
        try await apply([event(20)], gap: "p20", to: store) {
            $0.fullyReadMarkers = [MessageID("$16")]
            $0.counted = UnreadCount(messages: 4, mentions: 0)
        }
        #expect(try await counts() == [4, 0])
        for numbers in [18..<20, 14..<18] {
            let last = try #require(try await store.gaps(in: room).last)
            _ = try await store.fill(
                last, in: room, with: numbers.map(event), next: "p\(numbers.lowerBound)")
            #expect(try await counts() == [4, 0], "what the server says")
        }
    }

    @Test("A receipt that still waits does not make later messages read, which the server does not count")
    func waitingReceipt() async throws {
        let store = try await open()
        func summary() async throws -> RoomSummary { try #require(try await store.roomSummaries().first) }
        let none = UnreadCount(messages: 0, mentions: 0)
        try await apply([event(8)], gap: "p8", to: store) {
            $0.members = [Member(id: ann, displayName: "Ann", kind: .person)]
            $0.fullyReadMarkers = [MessageID("$1")]
            $0.counted = none
        }
        #expect(try await summary().unreadCount == 0)
        var mention = message(9)
        mention.notificationLevel = .mention
        let change = try await apply([.message(mention)], to: store) { $0.counted = none }
        #expect(change.arrived.map(\.level) == [.mention])
        #expect(try await summary().unreadCount == 1)
        #expect(try await summary().mentionCount == 1)
        try await apply([event(10)], to: store) {
            $0.fullyReadMarkers = [MessageID("$2")]
            $0.counted = none
        }
        #expect(try await summary().unreadCount == 0, "with a receipt of that batch")
        await store.close()
    }

    @Test("Mentions in encrypted rooms count although the server cannot see them", arguments: [80, 0])
    func encryptedMentions(counted: Int) async throws {
        let store = try await open()
        try await apply([event(1)], to: store) {
            $0.state = RoomState()
            $0.state?.encryption = .on
            $0.counted = UnreadCount(messages: 0, mentions: 0)
        }
        var mention = message(90)
        mention.notificationLevel = .mention
        try await apply([.message(mention)], gap: "p90", to: store) {
            $0.counted = UnreadCount(messages: counted, mentions: 0)
        }
        func counts() async throws -> [Int] {
            let summary = try #require(try await store.roomSummaries().first)
            return [summary.unreadCount, summary.mentionCount]
        }
        #expect(try await counts() == [max(counted, 1), 1])
        var earlier = message(89)
        earlier.notificationLevel = .mention
        let gap = try #require(try await store.gaps(in: room).last)
        _ = try await store.fill(gap, in: room, with: [.message(earlier)], next: "p89")
        #expect(try await counts() == [max(counted, 2), 2])
        await store.close()
    }

    /// A batch without any events has none that the marker could refer to.
    @Test(arguments: ["$4", nil])
    func messagesMissingAfterTheReadMarkerAreUnread(_ mark: String?) async throws {
        let store = try await open()
        func unread() async throws -> Int { try #require(try await store.roomSummaries().first).unreadCount }
        try await apply([event(1)], to: store) { $0.counted = UnreadCount(messages: 1, mentions: 0) }
        try await apply([], gap: "p5", to: store) {
            $0.fullyReadMarkers = mark.map { [MessageID($0)] } ?? []
            $0.counted = UnreadCount(messages: 0, mentions: 0)
        }
        #expect(try await unread() == 0)
        try await apply([], gap: "p7", to: store) { $0.counted = UnreadCount(messages: 2, mentions: 0) }
        #expect(try await unread() == 2, "what is missing since then")
        try await apply([event(7)], to: store) { $0.counted = UnreadCount(messages: 3, mentions: 0) }
        #expect(try await unread() == 3)
        for numbers in [4..<7, 1..<4] {
            let gap = try #require(try await store.gaps(in: room).last)
            _ = try await store.fill(gap, in: room, with: numbers.map(event), next: "p\(numbers.lowerBound)")
            #expect(try await unread() == 3, "what was said before it stays read")
        }
        #expect(try await store.gaps(in: room).isEmpty)
        #expect(try await texts(store) == (1...7).map(String.init))
        try await apply([event(8)], to: store)
        #expect(try await unread() == 4)
        #expect(try await store.integrityProblems() == [])
    }

    @Test(arguments: [nil, UnreadCount(messages: 2, mentions: 0)])
    func messagesMissingAfterANonMessageEventAreUnread(_ counted: UnreadCount?) async throws {
        let store = try await open()
        func summary() async throws -> RoomSummary { try #require(try await store.roomSummaries().first) }
        try await apply([.silent(MessageID("$1"))], to: store) {
            $0.fullyReadMarkers = [MessageID("$1")]
            $0.counted = counted.map { _ in UnreadCount(messages: 0, mentions: 0) }
        }
        try await apply([], gap: "p4", to: store) { $0.counted = counted }
        #expect(try await summary().mayHaveMoreUnread == (counted == nil))
        #expect(try await summary().unreadCount == counted?.messages ?? 0)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(
            gap, in: room, with: [.silent(MessageID("$1")), event(2), event(3)], next: "p1")
        #expect(try await summary().unreadCount == 2)
        #expect(try await store.gaps(in: room).isEmpty)
    }

    @Test func joiningMarksEarlierMessagesAsRead() async throws {
        let store = try await open()
        let me = MemberID("@me:a")
        let entry = NewMessage(
            id: MessageID("$in"), sender: me, event: RoomEvent(.joined, subject: me), sentAt: Fixtures.date)
        try await apply([event(1), event(2), .message(entry), event(3)], gap: "p1", to: store) {
            $0.members = [Member(id: me, displayName: "Me", kind: .own)]
        }
        let summary = try #require(try await store.roomSummaries().first)
        #expect(summary.unreadCount == 1 && !summary.mayHaveMoreUnread)
    }
}
