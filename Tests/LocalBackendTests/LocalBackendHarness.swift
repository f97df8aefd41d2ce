import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import LocalBackend
import Synchronization

/// The send key setting, which tests change while the guide runs.
final class SharedSendKey: Sendable {
    let key = Mutex(SendKey.return)
}

/// A backend over a store in a temporary folder, with a manual clock.
struct LocalBackendHarness {
    let backend: LocalBackend
    let store: ChatStore
    let clock: ManualClock
    let folder: TemporaryFolder
    /// The send key that the guide mentions.
    let sendKey = SharedSendKey()

    init(
        in folder: TemporaryFolder = TemporaryFolder(), ownName: String = "Robin",
        guideImage: @escaping @Sendable () async -> GuideImage? = { nil }
    ) async throws {
        self.folder = folder
        clock = ManualClock()
        store = try await ChatStore.open(in: folder.path("store"))
        let seconds = Mutex(0.0)
        backend = try await LocalBackend.start(
            over: store, ownDisplayName: ownName, sendKey: { [sendKey] in sendKey.key.withLock(\.self) },
            guideImage: guideImage, clock: clock,
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
