import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Behavior that depends on the sync's progress.
@Suite(.timeLimit(.minutes(10))) struct SyncStatusTests {
    private let room = RoomID("!room:example.org")
    private static let lost: JSONValue = ["errcode": "M_UNKNOWN_POS", "status": 400]

    private func sync(_ token: String, _ rooms: [String: [JSONValue]] = [:]) -> JSONValue {
        let joined = rooms.mapValues { ["timeline": ["events": .array($0)]] as JSONValue }
        return ["next_batch": .string(token), "rooms": ["join": .object(joined)]]
    }

    private func wait(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Until the sync has restarted completely, a room may be encrypted without the client's knowledge.
    @Test func lostSyncPositionMeansNotCaughtUp() async throws {
        let server = FakeHomeserver { _ in nil }
        let folder = TemporaryFolder()
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1"))
        try await server.waitUntilConsumed()
        #expect(backend.syncStatus.hasCaughtUp)
        server.sync(Self.lost)
        try await server.waitUntilConsumed()
        #expect(!backend.syncStatus.hasCaughtUp)
        server.sync(sync("s2"))
        try await server.waitUntilConsumed()
        #expect(backend.syncStatus.hasCaughtUp)
        await backend.close()
        await store.close()
    }

    @Test func failedReadMarkerIsSentAgain() async throws {
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
        try await server.waitUntilConsumed()
        try await backend.markRead(MessageID("$1"), in: room)
        try await wait { await backend.timelines.readMarkers.hasUnsent }
        server.sync(sync("s2"))
        try await wait { try await store.unsentReadMarkers().isEmpty }
        #expect(server.paths.filter { $0.hasSuffix("/read_markers") }.count == 2)
        await backend.close()
        await store.close()
    }

    /// Rooms left on another device, and rooms joined here, while the sync position was lost.
    @Test func joinedRoomsAreRequestedAfterALostSyncPosition() async throws {
        let (left, entered) = (RoomID("!left:example.org"), RoomID("!entered:example.org"))
        let failures = Mutex(1)
        let server = FakeHomeserver { request in
            if request.url.path.contains("/join/") { return ["room_id": "!entered:example.org"] }
            guard request.url.path.hasSuffix("/joined_rooms") else { return nil }
            let fails = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            return fails ? ["status": 502] : ["joined_rooms": ["!room:example.org"]]
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await server.start(in: folder)
        let hello = { (id: String) in [Events.text(id, "Hello")] }
        server.sync(sync("s1", [room.rawValue: hello("$1"), left.rawValue: hello("$2")]))
        server.sync(Self.lost)
        try await server.waitUntilConsumed()
        #expect(!server.paths.contains { $0.hasSuffix("/joined_rooms") }, "nothing was kept before the first")
        _ = try await backend.join("!entered:example.org")
        server.sync(sync("s2", [room.rawValue: hello("$1")]))
        try await server.waitUntilConsumed()
        #expect(try await store.roomSummaries().count == 3, "the server did not say")
        server.sync(sync("s3"))
        server.sync(sync("s4"))
        try await server.waitUntilConsumed()
        #expect(Set(try await store.roomSummaries().map(\.id)) == [room, entered])
        #expect(server.paths.filter { $0.hasSuffix("/joined_rooms") }.count == 2)
        await backend.close()
        await store.close()
    }

    @Test(arguments: ["ban", "join"]) func roomNoLongerJoinedIsLeft(_ membership: String) async throws {
        let server = FakeHomeserver { request in
            if request.url.path.hasSuffix("/leave") { return ["errcode": "M_FORBIDDEN", "status": 403] }
            let isOwn = request.url.path.hasSuffix("/state/m.room.member/@me:example.org")
            return isOwn ? ["membership": .string(membership)] : nil
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", [room.rawValue: [Events.text("$1", "Hello")]]))
        try await server.waitUntilConsumed()
        if membership == "join" {
            await #expect(throws: ChatError.notPermitted) { try await backend.leaveRoom(room) }
        } else {
            try await backend.leaveRoom(room)
        }
        #expect(try await store.roomSummaries().isEmpty == (membership != "join"))
        await backend.close()
        await store.close()
    }
}
