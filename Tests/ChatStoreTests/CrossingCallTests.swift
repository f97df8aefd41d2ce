import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// Calls that access both databases, with another call between the accesses.
@Suite(.timeLimit(.minutes(10))) struct CrossingCallTests: SyncTesting {
    let folder = TemporaryFolder()

    /// The number of drafts and queued requests.
    private func unsentCount(_ store: ChatStore) async throws -> Int {
        let drafts = try await store.readPending { db in try DraftTable(db: db).tokens }
        return try await drafts.count + store.outboxRequests().count
    }

    @Test("What is written while its room is being left does not bring the room back")
    func unsentContentOfALeftRoom() async throws {
        let store = try await open()
        try await apply([event(1)], to: store)
        let room = room
        // After the unsent content was removed, before the room is.
        AccessCounter().run(before: 4, to: store) { store in
            try store.pending.write { db in
                try DraftTable(db: db).set(Fixtures.draft("late"), of: room)
                try OutboxTable(db: db).put(
                    OutboxRequest(
                        id: TransactionID("t"), room: room, action: .send(WrittenMessage("late")),
                        queuedAt: Fixtures.date))
            }
        }
        try await apply([], to: store) { $0.isLeft = true }
        #expect(try await unsentCount(store) == 0)
        await store.close()
        let again = try await open()
        #expect(try await again.roomSummaries().isEmpty)
        await again.close()
    }

    @Test("What is written while its room is being removed does not bring the room back")
    func unsentContentOfARemovedRoom() async throws {
        let fixture = try await StoreFixture()
        let room = fixture.room
        AccessCounter().run(before: 3, to: fixture.store) { store in
            try store.pending.write { db in try DraftTable(db: db).set(Fixtures.draft("late"), of: room) }
        }
        try await fixture.store.removeRoom(room)
        #expect(try await unsentCount(fixture.store) == 0)
    }

    @Test("A draft is not stored if its room is removed meanwhile", arguments: 1...3)
    func draftOfARemovedRoom(access: Int) async throws {
        let fixture = try await StoreFixture()
        let (store, room) = (fixture.store, fixture.room)
        AccessCounter().run(before: access, to: store) { store in
            try store.history.write { db in try RoomTable(db: db).remove(RoomRecord.get(room, in: db)) }
        }
        await #expect(throws: ChatError.notFound) { try await store.saveDraft(Fixtures.draft("x"), in: room) }
        #expect(try await unsentCount(store) == 0)
    }

    @Test("The files of a draft that is sent meanwhile are found", arguments: 1...2)
    func filesOfADraftThatIsSent(access: Int) async throws {
        let fixture = try await StoreFixture()
        let (store, room) = (fixture.store, fixture.room)
        let uri = "media:" + String(repeating: "a", count: 64)
        _ = try await store.saveDraft(SavedDraft(data: Data(uri.utf8), preview: ""), in: room)
        AccessCounter().run(before: access, to: store) { store in
            try store.history.write { db in
                var writer = try MessageWriter(to: RoomRecord.get(room, in: db), in: db)
                _ = try writer.append(
                    NewMessage(
                        id: MessageID("m"), sender: Fixtures.own.id, text: "", sentAt: Fixtures.date, kind: .file,
                        attachments: [MediaReference(uri: uri, name: "n", type: "text/plain")]))
                try writer.finish()
            }
            try store.pending.write { db in try DraftTable(db: db).remove(of: room) }
        }
        #expect(try await store.mediaReferences(scheme: "media:") == [uri])
        #expect(try await unsentCount(store) == 0)
    }
}
