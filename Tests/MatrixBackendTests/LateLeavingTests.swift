import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// A response to leaving a room that arrives after something else has happened.
@Suite(.timeLimit(.minutes(10))) struct LateLeavingTests {
    private let room = AccountParts.room

    /// Leaves the room, with what happens between the server's response and its arrival.
    private func leave(
        meanwhile: @escaping @Sendable (AccountParts, EnteredRooms) async throws -> Void
    ) async throws -> AccountParts {
        let entered = EnteredRooms()
        let made = Mutex<AccountParts?>(nil)
        let transport = FakeTransport.responding { request in
            guard request.url.path.hasSuffix("/leave"), let parts = made.withLock({ $0 }) else { return }
            try await parts.writer.serialized { try await meanwhile(parts, entered) }
        } _: { _ in
            [:]
        }
        let parts = try await AccountParts.make(transport.client)
        made.withLock { $0 = parts }
        _ = try await parts.store.apply(Self.joined("$joined"))
        let entry = RoomEntry(
            client: parts.client, context: parts.context, writer: parts.writer, entered: entered,
            directRooms: DirectRoomList(client: parts.client, context: parts.context, store: parts.store),
            keys: parts.keys)
        try await entry.leave(room)
        return parts
    }

    private static func joined(_ event: String) -> SyncBatch {
        var batch = AccountParts.batch()
        batch.members = [Member(id: AccountParts.own, displayName: "Me", kind: .own)]
        batch.origins = [.member(AccountParts.own): MessageID(event)]
        return SyncBatch(rooms: [batch])
    }

    private static func removal() -> SyncBatch { SyncBatch(rooms: [.left(AccountParts.room, at: Fixtures.date)]) }

    @Test("A room is removed if nothing has happened, or only what does not bring the user back")
    func left() async throws {
        let parts = try await leave { _, _ in }
        #expect(try await !parts.store.hasRoom(room))
        await parts.store.close()
        let again = try await leave { parts, _ in try await parts.writer.write(Self.removal()) }
        #expect(try await !again.store.hasRoom(room))
        await again.store.close()
    }

    @Test("A room that the user has entered again here stays")
    func entered() async throws {
        let parts = try await leave { _, entered in entered.note(AccountParts.room) }
        #expect(try await parts.store.hasRoom(room))
        await parts.store.close()
    }

    @Test("A room that the user has entered again elsewhere stays", arguments: [true, false])
    func enteredElsewhere(isLeavingSynced: Bool) async throws {
        let parts = try await leave { parts, _ in
            if isLeavingSynced { try await parts.writer.write(Self.removal()) }
            try await parts.writer.write(Self.joined("$again"))
        }
        #expect(try await parts.store.hasRoom(room))
        await parts.store.close()
    }
}
