import ChatCore
import ChatTestSupport
import Testing

@testable import MatrixBackend

/// Runs the backend contract over a homeserver.
@Suite(.timeLimit(.minutes(5))) struct ContractTests {
    /// A file on the server has another URI than the sent file, and no alternative text; `filesGoWithMessages` tests
    /// the rest.
    private static let others = ["a file that is sent comes back with its content, its size and its name"]
    private static let cases = BackendContract.all.filter { !others.contains($0.description) }

    @Test(arguments: cases) func satisfiesTheBackendContract(_ contract: BackendContract) async throws {
        let user = try await MatrixUser.make(sliding: true)
        try await contract.run(SyncedBackend(user: user))
        await user.close()
    }
}
