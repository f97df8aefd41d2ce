import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Synchronization
import Testing

@testable import ChatStore

/// A message and the draft that remains: whenever the process is killed, neither is lost or duplicated.
@Suite(.timeLimit(.minutes(10))) struct RestoredDraftTests {
    /// Copies the store's files at each commit, as a process killed there would leave them.
    private final class Copies: TransactionObserver, Sendable {
        let folder = TemporaryFolder()
        private let url: URL
        private let count = Mutex(0)

        init(of url: URL) { self.url = url }

        func follow(_ store: ChatStore) async throws {
            try await store.write { [self] db in db.add(transactionObserver: self, extent: .databaseLifetime) }
            try await store.writePending { [self] db in db.add(transactionObserver: self, extent: .databaseLifetime) }
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ db: Database) {}

        func databaseDidCommit(_ db: Database) {
            count.withLock { count in
                count += 1
                do {
                    try FileManager.default.copyItem(at: url, to: folder.path("\(count)"))
                } catch {
                    Issue.record(error)
                }
            }
        }

        var all: [URL] { (0..<count.withLock { $0 }).map { folder.path("\($0 + 1)") } }
    }

    /// Returns the store's content after each commit of a call.
    private func endings(
        of fixture: StoreFixture, _ call: (ChatStore) async throws -> Void
    ) async throws -> [(isSent: Bool, draft: SavedDraft?)] {
        let copies = Copies(of: fixture.url)
        try await copies.follow(fixture.store)
        try await call(fixture.store)
        var found: [(isSent: Bool, draft: SavedDraft?)] = []
        for url in copies.all {
            let store = try await ChatStore.open(in: url)
            let isStored = try await !store.messages(in: fixture.room, before: .max, limit: 1).messages.isEmpty
            let isQueued = try await !store.outboxRequests().isEmpty
            found.append((isStored || isQueued, try await store.draft(in: fixture.room)))
            await store.close()
        }
        return found
    }

    static let drafts = [nil, Fixtures.draft("sent")]

    @Test(arguments: drafts) func draftBesideAStoredMessageSurvivesAnyCrash(before: SavedDraft?) async throws {
        let fixture = try await StoreFixture()
        if let before { _ = try await fixture.store.saveDraft(before, in: fixture.room) }
        let left = Fixtures.draft("failed before")
        let new = NewMessage(
            id: MessageID("m"), sender: Fixtures.own.id, text: "sent", sentAt: Fixtures.date,
            transactionID: TransactionID("t"))
        let endings = try await endings(of: fixture) { store in
            _ = try await store.append([new], to: fixture.room, removingDraft: true, leaving: left)
        }
        for ending in endings { #expect(ending.draft == (ending.isSent ? left : before)) }
        #expect(endings.contains { $0.isSent } && endings.count > 3)
        #expect(try await fixture.store.draft(in: fixture.room) == left)
        #expect(try await fixture.store.setting("leftDraft", of: fixture.room) == nil)
    }

    @Test(arguments: drafts) func draftBesideAQueuedMessageSurvivesAnyCrash(before: SavedDraft?) async throws {
        let fixture = try await StoreFixture()
        if let before { _ = try await fixture.store.saveDraft(before, in: fixture.room) }
        let left = Fixtures.draft("failed before")
        let request = OutboxRequest(
            id: TransactionID("t"), room: fixture.room, action: .send(WrittenMessage("sent")), queuedAt: Fixtures.date)
        let endings = try await endings(of: fixture) { store in
            try await store.commit(OutboxChange(put: [request], sentDraft: fixture.room, remainingDraft: left))
        }
        for ending in endings { #expect(ending.draft == (ending.isSent ? left : before)) }
        #expect(endings.contains { $0.isSent })
        #expect(try await fixture.store.draft(in: fixture.room) == left)
    }

    /// A draft saved after the message is newer than the restored one.
    @Test func laterDraftIsNotReplaced() async throws {
        let fixture = try await StoreFixture()
        let new = NewMessage(id: MessageID("m"), sender: Fixtures.own.id, text: "sent", sentAt: Fixtures.date)
        _ = try await fixture.store.append(
            [new], to: fixture.room, removingDraft: true, leaving: Fixtures.draft("left"))
        _ = try await fixture.store.saveDraft(Fixtures.draft("later"), in: fixture.room)
        await fixture.store.close()
        let again = try await ChatStore.open(in: fixture.url)
        #expect(try await again.draft(in: fixture.room) == Fixtures.draft("later"))
        await again.close()
    }
}
