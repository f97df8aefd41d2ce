import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import LocalBackend
import Synchronization

/// A backend over a store in a temporary folder, with a manual clock.
struct LocalBackendHarness {
    let backend: LocalBackend
    let store: ChatStore
    let clock: ManualClock
    let folder: TemporaryFolder

    init(in folder: TemporaryFolder = TemporaryFolder(), ownName: String = "Robin") async throws {
        self.folder = folder
        clock = ManualClock()
        store = try await ChatStore.open(in: folder.path("store"))
        let seconds = Mutex(0.0)
        backend = try await LocalBackend.start(
            over: store, ownDisplayName: ownName, clock: clock,
            now: {
                seconds.withLock { seconds in
                    seconds += 1
                    return Fixtures.date.addingTimeInterval(seconds)
                }
            })
    }

    /// Simulates a restart over the same folder.
    func restarted(ownName: String = "Robin") async throws -> LocalBackendHarness {
        await backend.close()
        await store.close()
        return try await LocalBackendHarness(in: folder, ownName: ownName)
    }

    func summaries() async -> [RoomSummary] {
        var summaries = backend.roomSummaries().makeAsyncIterator()
        return await summaries.next() ?? []
    }

    func room(_ kind: Room.Kind) async -> RoomID {
        await summaries().first { $0.room.kind == kind }?.id ?? RoomID("none")
    }
}
