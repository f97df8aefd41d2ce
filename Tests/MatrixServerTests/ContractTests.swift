import ChatCore
import ChatStore
import ChatTestSupport
import JSONReading
import Testing
import ToolSupport

@testable import MatrixBackend

/// Runs the backend contract over a homeserver.
@Suite(.timeLimit(.minutes(10))) struct ContractTests {
    /// A file on the server has another URI than the sent file, and no alternative text; `filesGoWithMessages` tests
    /// the rest, `EncryptedFileTests` and `EncryptedSendingTests` for encrypted files.
    private static let others = ["a file that is sent comes back with its content, its size and its name"]
    private static let cases = BackendContract.all.filter { !others.contains($0.description) }

    @Test(arguments: cases) func satisfiesTheBackendContract(_ contract: BackendContract) async throws {
        let user = try await MatrixUser.make(sliding: true)
        try await contract.run(SyncedBackend(user: user))
        await user.close()
    }

    /// The user is alone in the rooms: what other devices read is up to `PeerTests`.
    @Test(
        "In encrypted rooms the backend satisfies the same contract, and the server gets no unencrypted message",
        .enabled(if: EncryptionSetting.isOn), .serialized, arguments: cases)
    func encrypted(_ contract: BackendContract) async throws {
        let user = try await MatrixUser.make(sliding: true)
        try await RoomKeyTests.open(
            user, KeyCredential(account: user.session.user.rawValue, place: MemoryCredentialStore()))
        try await contract.run(SyncedBackend(user: user))
        for room in try await user.rooms() {
            #expect(try await user.client.state("m.room.encryption", of: room) == AccountEncryption.settings)
            let events = try await user.client.history(of: room, before: nil, limit: 100).events
            #expect(!events.contains { $0.type == "m.room.message" })
        }
        await user.close()
    }
}

extension MatrixUser {
    /// The rooms in which the user is now.
    fileprivate func rooms() async throws -> [RoomID] {
        for await rooms in backend.roomSummaries() { return rooms.map(\.id) }
        throw CancellationError()
    }
}
