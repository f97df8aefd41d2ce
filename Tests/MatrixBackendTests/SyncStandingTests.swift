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

    @Test func aReadMarkThatGotLostIsToldAgain() async throws {
        let failures = Mutex(1)
        let server = FakeHomeserver { request in
            guard request.url.path.hasSuffix("/read_markers") else { return nil }
            let fails = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            return fails ? ["status": 502] : [:]
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", [room.rawValue: [Events.text("$1", "Hello")]]))
        try await server.allIsTaken()
        try await backend.markRead(MessageID("$1"), in: room)
        try await wait { await backend.areMarksUntold }
        server.sync(sync("s2"))
        try await wait { try await store.rooms(withSetting: "matrix.unsentMark").isEmpty }
        #expect(server.paths.filter { $0.hasSuffix("/read_markers") }.count == 2)
        await backend.close()
        await store.close()
    }
}
