import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Pieces of history that come in any order, and what is no message among them.
@Suite(.timeLimit(.minutes(5))) struct StretchTests {
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
        batch.readUpTo = own.map { MessageID("$\($0)") }
        _ = try await store.apply(SyncBatch(rooms: [batch]))
    }

    private func texts(_ store: ChatStore) async throws -> [String] {
        try await store.messages(in: room, before: .max, limit: 1000).messages.map(\.text)
    }

    /// The messages at which the other reader stands.
    private func read(_ store: ChatStore) async throws -> [String] {
        try await store.messages(in: room, before: .max, limit: 1000).messages.filter { !$0.readers.isEmpty }.map(\.text)
    }

    private func unread(_ store: ChatStore) async throws -> Int? { try await store.roomSummaries().first?.unreadCount }

    /// A gap that held no message leaves what was in it far behind the last one.
    @Test func whatComesNextIsBehindWhatIsNoMessage() async throws {
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
}
