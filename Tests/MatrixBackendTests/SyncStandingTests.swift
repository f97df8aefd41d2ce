import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// What follows from how far the sync is.
@Suite(.timeLimit(.minutes(1))) struct SyncStandingTests {
    private let room = RoomID("!room:example.org")
    private static let lost: JSONValue = ["errcode": "M_UNKNOWN_POS", "status": 400]

    private func sync(_ token: String, _ rooms: [String: [JSONValue]] = [:]) -> JSONValue {
        let joined = rooms.mapValues { ["timeline": ["events": .array($0)]] as JSONValue }
        return ["next_batch": .string(token), "rooms": ["join": .object(joined)]]
    }

    private func wait(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Until all was told anew a room may be encrypted that is not known as that.
    @Test func whoLostItsPlaceHasNotCaughtUp() async throws {
        let server = FakeHomeserver { _ in nil }
        let folder = TemporaryFolder()
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1"))
        try await server.allIsTaken()
        #expect(await backend.standing.hasCaughtUp)
        server.sync(Self.lost)
        try await server.allIsTaken()
        #expect(await !backend.standing.hasCaughtUp)
        server.sync(sync("s2"))
        try await server.allIsTaken()
        #expect(await backend.standing.hasCaughtUp)
        await backend.close()
        await store.close()
    }
}
