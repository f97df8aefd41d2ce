import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// A message in the clear is marked unless it certainly precedes encryption. When that becomes certain, the mark goes.
@Suite(.timeLimit(.minutes(10))) struct EncryptionStartTests: SyncTesting {
    let folder = TemporaryFolder()

    private let start = TimelineEvent.message(
        NewMessage(
            id: MessageID("$on"), sender: MemberID("@ann:a"), event: RoomEvent(.encrypted), sentAt: Fixtures.date))

    /// A message that was marked, as the room is encrypted.
    private func clear(_ number: Int) -> TimelineEvent {
        var message = message(number)
        message.trust = .notEncrypted
        return .message(message)
    }

    private func encrypted(_ number: Int) -> TimelineEvent {
        var message = message(number)
        message.isEncrypted = true
        return .message(message)
    }

    @discardableResult
    private func sync(_ events: [TimelineEvent], gap: String? = nil, to store: ChatStore) async throws -> RoomChange {
        try await apply(events, gap: gap, to: store) {
            var state = RoomState()
            state.encryption = .on
            $0.state = state
        }
    }

    private func marked(_ store: ChatStore) async throws -> [String] {
        try await store.messages(in: room, before: .max, limit: 100).messages
            .filter { $0.trust == .notEncrypted }.map(\.text)
    }

    private func fillLast(_ store: ChatStore, with events: [TimelineEvent], next: String?) async throws -> RoomChange {
        let gap = try #require(try await store.gaps(in: room).last)
        return try #require(try await store.fill(gap, in: room, with: events, next: next))
    }

    private func insert(_ events: [TimelineEvent], into store: ChatStore) async throws {
        let gap = try #require(try await store.gaps(in: room).last)
        let chunk = TimelineChunk(events: events, older: "older", newer: "newer")
        #expect(try await store.insertChunk(chunk, in: gap, of: room) != nil)
    }

    /// The warning of what the room list shows.
    private func listed(_ store: ChatStore) async throws -> MessageTrust? {
        try #require(try await store.roomSummaries().first?.lastMessage).trust
    }

    @Test("The room list has the mark of the last message, after a restart as well, and of no other")
    func listedMark() async throws {
        var store = try await open()
        try await sync([event(7)], gap: "p7", to: store)
        #expect(try await listed(store) == nil)
        try await sync([clear(8)], to: store)
        #expect(try await listed(store) == .notEncrypted)
        await store.close()
        store = try await open()
        #expect(try await listed(store) == .notEncrypted)
        try await sync([encrypted(9)], to: store)
        #expect(try await listed(store) == nil)
        await store.close()
    }

    @Test("Marks go once no gap is left between the messages and the start of encryption")
    func chunkInGap() async throws {
        let store = try await open()
        try await sync([encrypted(9)], gap: "p9", to: store)
        try await insert([clear(1), clear(2)], into: store)
        try await insert([clear(5), clear(6)], into: store)
        #expect(try await marked(store) == ["1", "2", "5", "6"])

        let change = try await fillLast(store, with: [clear(6), clear(7), start, encrypted(8)], next: "p6")
        #expect(change.changed.filter { $0.trust == nil && $0.event == nil }.map(\.text) == ["5", "6", "7", "8"])
        #expect(try await marked(store) == ["1", "2"], "a gap is left")

        let gap = try #require(try await store.gaps(in: room).last)
        let between = try await store.fill(gap, in: room, with: [2, 3, 4, 5].map(clear), next: "p2")
        #expect(between?.changed.filter { $0.trust == nil }.map(\.text) == ["1", "2", "3", "4"])
        #expect(try await marked(store) == [])
        await store.close()
    }

    @Test("Marks go when the sync brings the start of encryption after history that came first")
    func startArrives() async throws {
        let store = try await open()
        try await sync([event(7)], gap: "p7", to: store)
        _ = try await fillLast(store, with: [clear(5), clear(6)], next: nil)
        #expect(try await marked(store) == ["5", "6"])
        let change = try await sync([start, encrypted(8)], to: store)
        #expect(change.changed.filter { $0.event == nil }.map(\.text) == ["5", "6", "8"])
        #expect(try await marked(store) == [])
        await store.close()
    }

    @Test("What is behind the start of encryption stays marked")
    func messageBehind() async throws {
        let store = try await open()
        try await sync([encrypted(9)], gap: "p9", to: store)
        _ = try await fillLast(store, with: [start, clear(7), clear(8)], next: "p7")
        try await insert([clear(1)], into: store)
        _ = try await fillLast(store, with: [clear(1)], next: "p1")
        #expect(try await marked(store) == ["7", "8"])
        await store.close()
    }

    @Test("What a sync brought stays marked, wherever it is placed and whatever the sync claims afterwards")
    func syncedMessages() async throws {
        let store = try await open()
        try await sync([event(1)], to: store)
        try await sync([event(9)], gap: "p9", to: store)
        // Into the gap, before what is known.
        try await sync([clear(5), event(9)], to: store)
        try await sync([clear(10), start], to: store)
        #expect(try await texts(store).filter { !$0.isEmpty } == ["1", "5", "9", "10"])
        #expect(try await marked(store) == ["5", "10"])
        _ = try await fillLast(store, with: [event(1), clear(4)], next: "p1")
        #expect(try await marked(store) == ["5", "10"])
        await store.close()
    }

    @Test("What a sync brought stays marked if all else that the store had was history")
    func syncedMessageAfterHistory() async throws {
        let store = try await open()
        let other = RoomID("!other")
        _ = try await store.apply(
            SyncBatch(rooms: [RoomBatch(id: other, createdAt: Fixtures.date, gap: "p")]))
        let gap = try #require(try await store.gaps(in: other).first)
        _ = try await store.fill(gap, in: other, with: [event(1), event(2)], next: nil)
        try await sync([], gap: "p", to: store)
        _ = try await fillLast(store, with: [event(3)], next: nil)
        var left = RoomBatch(id: other, createdAt: Fixtures.date)
        left.isLeft = true
        _ = try await store.apply(SyncBatch(rooms: [left]))

        try await sync([clear(4)], to: store)
        try await sync([start], to: store)
        #expect(try await marked(store) == ["4"])
        await store.close()
    }

    @Test("A second start of encryption, which its server calls the first, removes no mark")
    func encryptedBefore() async throws {
        let store = try await open()
        try await sync([encrypted(9)], gap: "p9", to: store)
        try await insert([encrypted(1), clear(2)], into: store)
        _ = try await fillLast(store, with: [clear(2), start, clear(8)], next: "p2")
        #expect(try await marked(store) == ["2", "8"])
        #expect(try await store.encryptionPosition(in: room) == nil, "which would spare older history the mark")
        await store.close()
    }

    @Test("An edited message stays marked: the edit may be from after the start of encryption")
    func editedMessage() async throws {
        let store = try await open()
        try await sync([event(7)], gap: "p7", to: store)
        _ = try await fillLast(store, with: [clear(5), clear(6)], next: nil)
        var edit = MessageChange(
            id: "$edit", target: MessageID("$5"), sender: ann, at: Fixtures.date, kind: .edit(Wording("Pay to")))
        edit.trust = .notEncrypted
        try await sync([.silent(MessageID("$edit")), .change(edit)], to: store)
        try await sync([start], to: store)
        #expect(try await marked(store) == ["Pay to"])
        await store.close()
    }
}
