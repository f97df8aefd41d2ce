import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Invitations and direct rooms from sync batches.
struct InvitationStoreTests {
    private let folder = TemporaryFolder()

    private func invitation(_ room: String, at time: Double, name: String? = nil) -> Invitation {
        Invitation(room: RoomID(room), name: name, receivedAt: Date(timeIntervalSince1970: time))
    }

    private func batch(
        _ invitations: [Invitation] = [], rooms: [RoomBatch] = [], isWhole: Bool = false
    ) -> SyncBatch {
        var batch = SyncBatch(rooms: rooms)
        batch.invitations = invitations
        batch.areInvitationsWhole = isWhole
        return batch
    }

    @Test func invitationsPersistUntilTheRoomIsJoinedOrLeft() async throws {
        var store = try await ChatStore.open(in: folder.path("store"))
        _ = try await store.apply(batch([invitation("a", at: 1), invitation("b", at: 2), invitation("c", at: 3)]))
        // A repeated invitation keeps its time but updates its content.
        _ = try await store.apply(batch([invitation("a", at: 9, name: "Named")]))
        await store.close()
        store = try await ChatStore.open(in: folder.path("store"))
        #expect(try await store.invitations().map(\.room.rawValue) == ["c", "b", "a"])
        #expect(try await store.invitations().last == invitation("a", at: 1, name: "Named"))
        var left = RoomBatch(id: RoomID("b"), createdAt: Fixtures.date)
        left.isLeft = true
        _ = try await store.apply(batch(rooms: [RoomBatch(id: RoomID("a"), createdAt: Fixtures.date), left]))
        #expect(try await store.invitations().map(\.room.rawValue) == ["c"])
        #expect(try await store.roomSummaries().map(\.id.rawValue) == ["a"])
        // Left and invited again within one sync response.
        var out = RoomBatch(id: RoomID("a"), createdAt: Fixtures.date)
        out.isLeft = true
        _ = try await store.apply(batch([invitation("a", at: 5)], rooms: [out], isWhole: true))
        #expect(try await store.invitations().map(\.room.rawValue) == ["a"], "and c was not among all there are")
        #expect(try await store.roomSummaries().isEmpty)
        await store.close()
    }

    @Test("What a list of several batches does not include is removed at its end, also after a restart")
    func listOfSeveralBatches() async throws {
        var store = try await ChatStore.open(in: folder.path("store"))
        _ = try await store.apply(batch([invitation("a", at: 1), invitation("b", at: 2), invitation("c", at: 3)]))
        var first = batch([invitation("a", at: 8)])
        first.beginsInvitations = true
        _ = try await store.apply(first)
        #expect(try await store.invitations().map(\.room.rawValue) == ["c", "b", "a"])
        await store.close()
        store = try await ChatStore.open(in: folder.path("store"))
        _ = try await store.apply(batch([invitation("new", at: 9)]))
        var last = batch([invitation("b", at: 9)])
        last.endsInvitations = true
        _ = try await store.apply(last)
        #expect(try await store.invitations().map(\.room.rawValue) == ["new", "b", "a"])
        #expect(try await store.invitations().last == invitation("a", at: 1))
        last.invitations = []
        _ = try await store.apply(last)
        #expect(try await store.invitations().count == 3, "no list has begun")
        await store.close()
    }

    @Test func directRoomsFollowTheLatestAccountData() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        func kinds() async throws -> [String: Room.Kind] {
            Dictionary(uniqueKeysWithValues: try await store.roomSummaries().map { ($0.id.rawValue, $0.room.kind) })
        }
        var a = RoomBatch(id: RoomID("a"), createdAt: Fixtures.date)
        a.isDirect = true
        _ = try await store.apply(batch(rooms: [a, RoomBatch(id: RoomID("b"), createdAt: Fixtures.date)]))
        #expect(try await kinds() == ["a": .direct, "b": .group])
        var other = SyncBatch()
        other.directRooms = [RoomID("b"), RoomID("unknown")]
        _ = try await store.apply(other)
        #expect(try await kinds() == ["a": .group, "b": .direct])
        _ = try await store.apply(SyncBatch())
        #expect(try await kinds() == ["a": .group, "b": .direct], "where nothing is told nothing changes")
        await store.close()
    }
}
