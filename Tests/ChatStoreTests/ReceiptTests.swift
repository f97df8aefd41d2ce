import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Read receipts of other users.
@Suite(.timeLimit(.minutes(10))) struct ReceiptTests {
    private let room = RoomID("!room")
    private let ann = MemberID("@ann:a")
    private let bob = MemberID("@bob:a")
    private let folder = TemporaryFolder()

    private func text(_ number: Int, by sender: MemberID? = nil) -> TimelineEvent {
        .message(
            NewMessage(
                id: MessageID("$\(number)"), sender: sender ?? ann, text: "\(number)",
                sentAt: Date(timeIntervalSince1970: Double(number))))
    }

    private func receipt(_ number: Int, by member: MemberID, at time: Double = 1000) -> ReadReceipt {
        ReadReceipt(member: member, message: MessageID("$\(number)"), readAt: Date(timeIntervalSince1970: time))
    }

    @discardableResult
    private func apply(
        _ events: [TimelineEvent], _ receipts: [ReadReceipt] = [], gap: String? = nil, to store: ChatStore
    ) async throws -> [String] {
        var batch = RoomBatch(id: room, createdAt: Date(), events: events, gap: gap)
        batch.receipts = receipts
        return try await store.apply(SyncBatch(rooms: [batch])).flatMap(\.changed).map(\.id.rawValue)
    }

    /// Returns the readers of each message in a page.
    private func readers(_ store: ChatStore) async throws -> [String: [MemberID]] {
        let messages = try await store.messages(in: room, before: .max, limit: 1000).messages
        return Dictionary(
            uniqueKeysWithValues: messages.filter { !$0.readReceipts.isEmpty }.map {
                ($0.id.rawValue, $0.readReceipts.map(\.member))
            })
    }

    @Test func readReceiptsOnlyMoveForward() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        try await apply([text(1), text(2), text(3)], [receipt(1, by: bob)], to: store)
        #expect(try await readers(store) == ["$1": [bob]])
        #expect(try await apply([], [receipt(3, by: bob)], to: store) == ["$1", "$3"], "both rows are others")
        #expect(try await apply([], [receipt(2, by: bob), receipt(3, by: bob)], to: store) == [])
        #expect(try await apply([], [receipt(99, by: bob)], to: store) == [], "what is not known moves nobody yet")
        #expect(try await readers(store) == ["$3": [bob]])
        #expect(try await store.receipts(in: room).filter { $0.member == bob } == [receipt(3, by: bob)])
        await store.close()
    }

    @Test func sendingAMessageMovesTheSendersReceipt() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        try await apply([text(1), text(2)], [receipt(1, by: bob)], to: store)
        #expect(try await Set(apply([text(3, by: bob)], to: store)) == ["$1", "$3"])
        #expect(try await apply([text(3, by: bob)], to: store) == [], "twice is once")
        #expect(try await readers(store).isEmpty, "nobody is told to have read what is theirs")
        try await apply([text(4)], [receipt(4, by: bob)], to: store)
        #expect(try await readers(store) == ["$4": [bob]])
        await store.close()
    }

    @Test func receiptWaitsForItsMessage() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        try await apply([text(5)], [receipt(2, by: bob)], gap: "t", to: store)
        #expect(try await readers(store).isEmpty)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [text(1), text(2), text(3)], next: nil)
        #expect(try await readers(store) == ["$2": [bob]])
        await store.close()
    }

    /// A receipt for a reaction, an edit or a state event applies to the message before it.
    @Test func receiptAtANonMessageAppliesToTheMessageBefore() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let silent = { (number: Int) in TimelineEvent.silent(MessageID("$\(number)")) }
        try await apply([text(1), silent(2), text(3), silent(4)], [receipt(2, by: bob)], to: store)
        #expect(try await readers(store) == ["$1": [bob]])
        #expect(try await apply([], [receipt(4, by: bob)], to: store) == ["$1", "$3"])
        #expect(try await readers(store) == ["$3": [bob]])
        #expect(try await apply([], [receipt(3, by: bob)], to: store) == [], "never back")
        // A receipt after a gap without messages also covers the messages that later fill the gap.
        try await apply([silent(9), text(10)], [receipt(9, by: bob)], gap: "p9", to: store)
        #expect(try await readers(store) == ["$3": [bob]])
        let gap = try #require(try await store.gaps(in: room).first)
        let filled = try await store.fill(gap, in: room, with: [text(7), text(8)], next: "p7")
        #expect(filled?.changed.map(\.id.rawValue) == ["$3", "$7", "$8"], "where they stood is told, too")
        #expect(try await readers(store) == ["$8": [bob]])
        await store.close()
    }

    /// A receipt at an event without a message does not cover messages that a later chunk inserts after it.
    @Test func laterInsertedMessagesAreNotReadByEarlierReceipts() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let silent = { (number: Int) in TimelineEvent.silent(MessageID("$\(number)")) }
        try await apply([text(1)], to: store)
        try await apply([silent(5)], [receipt(5, by: bob)], gap: "p5", to: store)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [text(1), silent(3)], next: "p1")
        try await apply([text(20)], gap: "p20", to: store)
        let later = try #require(try await store.gaps(in: room).first)
        let chunk = TimelineChunk(events: [text(9), text(10)], older: "p9", newer: "p11")
        #expect(try await store.insertChunk(chunk, in: later, of: room) != nil)
        #expect(try await readers(store) == ["$1": [bob]])
        await store.close()
    }

    @Test func newerReceiptOfAReaderAlsoWaits() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        try await apply([text(1), text(2)], [receipt(1, by: bob)], to: store)
        try await apply([], [receipt(3, by: bob), receipt(5, by: bob)], to: store)
        #expect(try await apply([text(3)], to: store) == ["$1", "$3"])
        #expect(try await readers(store) == ["$3": [bob]])
        try await apply([text(4), .silent(MessageID("$5")), text(6)], to: store)
        #expect(try await readers(store) == ["$4": [bob]])
        await store.close()
    }

    /// Only the most recent readers are returned, up to the limit.
    @Test func onlyTheLatestReadersAreReturned() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let manyReceipts = (0..<1000).map { receipt($0 < 700 ? 1 : 2, by: MemberID("@u\($0):a"), at: Double($0)) }
        try await apply([text(1), text(2), text(3)], manyReceipts + [receipt(3, by: bob)], to: store)
        let found = try await readers(store)
        #expect(found["$1"] == (600..<700).reversed().map { MemberID("@u\($0):a") })
        #expect(found["$2"]?.count == Message.maxReadReceipts && found["$2"]?.first == MemberID("@u999:a"))
        #expect(found["$3"] == [bob])
        await store.close()
    }
}
