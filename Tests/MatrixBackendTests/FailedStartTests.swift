import ChatCore
import ChatTestSupport
import Foundation
import Synchronization
import Testing

@testable import ChatStore
@testable import MatrixBackend

/// An account whose store fails while it is opened, as on a full disk.
@Suite(.timeLimit(.minutes(10))) struct FailedStartTests {
    private let folder = TemporaryFolder()

    private final class Opened: Sendable {
        private let noted = Mutex(Store())

        private struct Store {
            weak var store: ChatStore?
        }

        var isReleased: Bool { noted.withLock { $0.store == nil } }

        init(_ store: ChatStore) { noted.withLock { $0.store = store } }
    }

    @Test("Whichever access fails, nothing of the account stays in memory, and it can be opened again")
    func release() async throws {
        var failures = 0
        for number in 1...20 {
            let (opened, isStarted) = try await start(failing: number)
            while !opened.isReleased { await Task.yield() }
            if !isStarted { failures += 1 }
        }
        #expect(failures > 0)
    }

    /// - Parameter number: of the access that fails.
    private func start(failing number: Int) async throws -> (Opened, isStarted: Bool) {
        let store = try await ChatStore.open(in: folder.path("store"))
        let count = Mutex(0)
        store.beforeAccess.withLock {
            $0 = {
                let isIt = count.withLock { count in
                    count += 1
                    return count == number
                }
                if isIt { throw ChatError.storage(reason: "failed on purpose") }
            }
        }
        var isStarted = false
        do {
            let backend = try await MatrixBackend.start(
                over: store, server: try #require(URL(string: "https://example.org/")),
                ownUserID: MemberID("@me:example.org"), token: nil, transport: FakeTransport(200))
            isStarted = true
            await backend.close()
        } catch {
            #expect(error as? ChatError == .storage(reason: "failed on purpose"))
        }
        await store.close()
        return (Opened(store), isStarted)
    }
}
