import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// History chunks in any order, with events that are not messages.
@Suite(.timeLimit(.minutes(10))) struct TimelineChunkTests {
    private let room = RoomID("!room")
    private let ann = MemberID("@ann:a")
    private let bob = MemberID("@bob:a")
    private let folder = TemporaryFolder()

    private func open() async throws -> ChatStore { try await ChatStore.open(in: folder.path("store")) }

    private func text(_ number: Int) -> TimelineEvent {
        .message(
            NewMessage(
                id: MessageID("$\(number)"), sender: ann, text: "\(number)",
                sentAt: Date(timeIntervalSince1970: Double(number))))
    }

    private func silent(_ number: Int) -> TimelineEvent { .silent(MessageID("$\(number)")) }

    private func apply(
        _ events: [TimelineEvent], readers: [Int] = [], own: [Int] = [], gap: String? = nil, to store: ChatStore
    ) async throws {
        var batch = RoomBatch(id: room, createdAt: Date(timeIntervalSince1970: 0), events: events, gap: gap)
        batch.receipts = readers.map {
            ReadReceipt(member: bob, message: MessageID("$\($0)"), readAt: Date(timeIntervalSince1970: 1000))
        }
        batch.fullyReadMarkers = own.map { MessageID("$\($0)") }
        _ = try await store.apply(SyncBatch(rooms: [batch]))
    }

    private func texts(_ store: ChatStore) async throws -> [String] {
        try await store.messages(in: room, before: .max, limit: 1000).messages.map(\.text)
    }

    /// Returns the messages that have the other user's receipt.
    private func read(_ store: ChatStore) async throws -> [String] {
        let messages = try await store.messages(in: room, before: .max, limit: 1000).messages
        return messages.filter { !$0.readReceipts.isEmpty }.map(\.text)
    }

    private func unread(_ store: ChatStore) async throws -> Int? { try await store.roomSummaries().first?.unreadCount }

    /// A new message is ordered after the non-message events that have filled the gap before it.
    @Test func newMessagesFollowNonMessageEvents() async throws {
        let store = try await open()
        try await apply([text(1)], to: store)
        try await apply([], gap: "p4", to: store)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [text(1), silent(2), silent(3)], next: "p1")
        #expect(try await store.gaps(in: room).isEmpty)
        try await apply([text(4)], readers: [3], own: [3], to: store)
        #expect(try await read(store) == ["1"])
        #expect(try await unread(store) == 1)
        try await apply([silent(5), text(6)], readers: [5], own: [5], to: store)
        #expect(try await read(store) == ["4"])
        #expect(try await unread(store) == 1)
        #expect(try await texts(store) == ["1", "4", "6"])
        await store.close()
    }

    /// A chunk that spans two gaps and the message between them fills both.
    @Test(arguments: [0, 1]) func chunkSpanningTwoGapsFillsBoth(_ number: Int) async throws {
        let store = try await open()
        try await apply([text(0)], to: store)
        try await apply([text(10)], gap: "p10", to: store)
        try await apply([text(20)], gap: "p20", to: store)
        let chunk = TimelineChunk(events: (8..<13).map(text), older: "p8", newer: "n13")
        let outcome = try await store.insertChunk(chunk, in: store.gaps(in: room)[number], of: room)
        #expect(outcome?.changed.map(\.text) == ["8", "9", "11", "12"])
        #expect(try await texts(store) == ["0", "8", "9", "10", "11", "12", "20"])
        #expect(try await store.gaps(in: room).map(\.token) == ["p8", "p20"])
        #expect(try await store.gaps(in: room).map(\.forward) == [nil, "n13"])
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    /// The chunk ends or begins at a known message.
    @Test func chunkAdjacentToAKnownMessageIsPlacedThere() async throws {
        let store = try await open()
        try await apply([text(0)], to: store)
        try await apply([text(10)], gap: "p10", to: store)
        try await apply([text(20)], gap: "p20", to: store)
        let last = try #require(try await store.gaps(in: room).last)
        let front = TimelineChunk(events: [text(9), text(10), silent(11)], older: "p9", newer: "n12")
        #expect(try await store.insertChunk(front, in: last, of: room)?.changed.map(\.text) == ["9"])
        let whole = TimelineChunk(events: (0..<9).map(text), newer: "n9")
        let wrong = try #require(try await store.gaps(in: room).last)
        #expect(wrong.forward == "n12")
        #expect(try await store.insertChunk(whole, in: wrong, of: room) == nil, "its beginning is known elsewhere")
        #expect(try await texts(store) == ["0", "9", "10", "20"])
        await store.close()
    }

    /// Only a reaction may lie between two gaps.
    @Test(arguments: [false, true]) func chunkIsSplitAtANonMessageEvent(_ followsOn: Bool) async throws {
        let store = try await open()
        try await apply([text(1)], to: store)
        try await apply([silent(9)], readers: [9], own: [9], gap: "p9", to: store)
        try await apply([text(20)], gap: "p20", to: store)
        if followsOn {
            let island = TimelineChunk(events: [text(5), text(6)], older: "p5", newer: "n7")
            _ = try await store.insertChunk(island, in: store.gaps(in: room)[0], of: room)
        }
        let chunk = TimelineChunk(
            events: [text(7), text(8), silent(9), text(10), text(11)], older: "p7", newer: "n12")
        let gap = try #require(try await store.gaps(in: room).dropLast(followsOn ? 1 : 0).last)
        #expect(try await store.insertChunk(chunk, in: gap, of: room, isContiguous: followsOn) != nil)
        #expect(try await texts(store) == ["1"] + (followsOn ? ["5", "6"] : []) + ["7", "8", "10", "11", "20"])
        #expect(try await store.gaps(in: room).map(\.token) == [followsOn ? "p5" : "p7", "p20"])
        #expect(try await read(store) == ["8"])
        #expect(try await unread(store) == 3)
        await store.close()
    }

    /// A known event outside the gap does not close it.
    @Test func differentServerOrderHidesNoMessages() async throws {
        let store = try await open()
        try await apply([text(0), text(1), text(2)], to: store)
        try await apply([text(10), text(11), text(12)], gap: "p10", to: store)
        func place(_ numbers: [Int], older: String?, newer: String?, followsOn: Bool = false) async throws {
            let gap = try #require(try await store.gaps(in: room).last)
            let chunk = TimelineChunk(events: numbers.map(text), older: older, newer: newer)
            #expect(try await store.insertChunk(chunk, in: gap, of: room, isContiguous: followsOn) != nil)
        }
        try await place([1, 5, 12, 6], older: "p1", newer: "n7")
        #expect(try await texts(store) == ["0", "1", "2", "5", "6", "10", "11", "12"])
        try await place([7, 11, 8], older: nil, newer: "n9", followsOn: true)
        try await place([9, 10, 11], older: nil, newer: "n12", followsOn: true)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [2, 3, 4].map(text), next: "p2")
        #expect(try await texts(store) == (0...12).map(String.init))
        #expect(try await store.gaps(in: room).isEmpty)
        await store.close()
    }

    /// Events that arrived late over federation are ordered by sync arrival.
    @Test func chunkBeforeAKnownMessageLeavesTheRestMissing() async throws {
        let store = try await open()
        try await apply([text(0), text(1), text(9)], to: store)
        try await apply([text(20)], gap: "p20", to: store)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [5, 6, 9, 18, 19].map(text), next: "p5")
        #expect(try await store.gaps(in: room).map(\.token) == ["p5"])
        let rest = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(rest, in: room, with: [0, 1, 2, 3, 4].map(text), next: "p0")
        #expect(try await store.gaps(in: room).isEmpty)
        #expect(try await texts(store) == [0, 1, 9, 2, 3, 4, 5, 6, 18, 19, 20].map(String.init))
        await store.close()
    }

    /// The first part of a chunk contains the read marker; the rest is counted from there.
    @Test func messagesReadWithinAChunkAreNotUnread() async throws {
        let store = try await open()
        try await apply([text(0)], to: store)
        try await apply([text(10)], gap: "p10", to: store)
        try await apply([text(20)], own: [8], gap: "p20", to: store)
        let chunk = TimelineChunk(events: (7..<13).map(text), older: "p7", newer: "n13")
        _ = try await store.insertChunk(chunk, in: #require(try await store.gaps(in: room).last), of: room)
        #expect(try await texts(store) == ["0", "7", "8", "9", "10", "11", "12", "20"])
        #expect(try await unread(store) == 5)
        await store.close()
    }

    @Test func deletionBeforeTheReadMarkerDoesNotLowerTheUnreadCount() async throws {
        let store = try await open()
        try await apply([text(0)], to: store)
        try await apply([text(10)], own: [8], gap: "p10", to: store)
        let deletion = MessageChange(
            id: "$d", target: MessageID("$0"), sender: ann, at: Date(timeIntervalSince1970: 1), kind: .deletion)
        try await apply([text(8), text(9), text(10), text(11), .change(deletion)], gap: "p8", to: store)
        #expect(try await texts(store) == ["", "8", "9", "10", "11"])
        #expect(try await unread(store) == 3)
        await store.close()
    }
}
