import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// The last activity of a room whose messages have wrong dates.
@Suite(.timeLimit(.minutes(10))) struct RoomActivityTests: SyncTesting {
    let folder = TemporaryFolder()
    private let arrival = Date(timeIntervalSince1970: 5000)
    /// In the year 9999.
    private let future = Date(timeIntervalSince1970: 253_370_764_800)

    private func event(_ number: Int, at date: Date) -> TimelineEvent {
        var message = message(number)
        message.sentAt = date
        return .message(message)
    }

    private func batch(_ events: [TimelineEvent], gap: String? = nil) -> SyncBatch {
        SyncBatch(rooms: [
            RoomBatch(id: room, name: "Room", createdAt: Date(timeIntervalSince1970: 1), events: events, gap: gap)
        ])
    }

    private func activity(_ store: ChatStore) async throws -> Date? {
        try await store.roomSummaries().first?.lastActivity
    }

    @Test("A message from the future is active when it arrived and retains its date; a later one is newer.")
    func sync() async throws {
        let store = try await open()
        _ = try await store.apply(batch([event(1, at: future)]), at: arrival)
        #expect(try await activity(store) == arrival)
        #expect(try await store.messages([MessageID("$1")], in: room).map(\.sentAt) == [future])
        _ = try await store.apply(batch([change("$d", 1, .deletion)]), at: arrival + 1)
        #expect(try await activity(store) == arrival)
        _ = try await store.apply(batch([event(2, at: arrival + 9)]), at: arrival + 10)
        #expect(try await activity(store) == arrival + 9)
        await store.close()
    }

    @Test("A room that was made in the future, as its server says, is no newer than its arrival.")
    func creation() async throws {
        let store = try await open()
        var batch = batch([])
        batch.rooms[0].createdAt = future
        _ = try await store.apply(batch, at: arrival)
        #expect(try await activity(store) == arrival)
        await store.close()
    }

    @Test("An activity in the future, as earlier versions stored it, ends with the next message.")
    func storedActivity() async throws {
        let store = try await open()
        _ = try await store.apply(batch([event(1, at: future)]), at: future)
        #expect(try await activity(store) == future)
        _ = try await store.apply(batch([event(2, at: arrival)]), at: arrival)
        #expect(try await activity(store) == arrival)
        await store.close()
    }

    @Test("History from the future, as the first messages of a room, is no newer than its arrival.")
    func history() async throws {
        let store = try await open()
        _ = try await store.apply(batch([], gap: "p"), at: arrival)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(1, at: future)], next: nil)
        let activity = try #require(try await activity(store))
        #expect(activity <= Date())
        await store.close()
    }
}
