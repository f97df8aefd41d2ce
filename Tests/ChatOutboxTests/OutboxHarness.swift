import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Foundation

/// An outbox over a real store, a scripted server and a manual clock.
struct OutboxHarness {
    let room = RoomID("room")
    /// A second room.
    let other = RoomID("other")
    let folder: TemporaryFolder
    let store: ChatStore
    let server: FakeServer
    let clock = ManualClock()
    let outbox: Outbox

    init(
        in folder: TemporaryFolder = TemporaryFolder(), server: FakeServer = FakeServer(), isOnline: Bool = true,
        retainsAccepted: Bool = false, draw: Double = 1
    ) async throws {
        self.folder = folder
        self.server = server
        store = try await ChatStore.open(in: folder.path("store"))
        for room in [room, other] where try await !store.hasRoom(room) {
            try await store.createRoom(
                NewRoom(room: Fixtures.room(room.rawValue), members: [Fixtures.own], createdAt: Fixtures.date))
        }
        outbox = Outbox(
            storage: store, backend: server, isOnline: isOnline, retainsAccepted: retainsAccepted, clock: clock,
            draw: { draw }, now: { Fixtures.date })
        try await outbox.start()
    }

    /// Simulates a restart over the same folder.
    func restarted(isOnline: Bool = true) async throws -> OutboxHarness {
        await outbox.close()
        await store.close()
        return try await OutboxHarness(in: folder, server: server, isOnline: isOnline)
    }

    func send(_ text: String, as transaction: String) async throws {
        try await outbox.send(WrittenMessage(text), transaction: TransactionID(transaction), to: room)
    }

    /// Returns the room's items once they satisfy the condition.
    @discardableResult
    func items(where condition: ([OutboxItem]) -> Bool) async throws -> [OutboxItem] {
        var items = outbox.items(in: room).makeAsyncIterator()
        guard let found = await items.next(where: condition) else { throw CancellationError() }
        return found
    }

    func waitUntilEmpty() async throws { try await items(where: \.isEmpty) }
}
