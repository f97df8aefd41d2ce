import ChatCore
import ChatTestSupport
import Composer
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// Outbox requests of earlier versions.
@Suite(.timeLimit(.minutes(10))) struct OutboxMigrationTests {
    private let folder = TemporaryFolder()

    private func open() async throws -> ChatStore {
        try EarlierStore.namesAreMentions.copy(to: folder.path("store"))
        return try await ChatStore.open(in: folder.path("store"))
    }

    @Test func earlierFormatIsRead() async throws {
        let store = try await open()
        let requests = try await store.outboxRequests()
        #expect(requests.map(\.id.rawValue) == (1...8).map { "t\($0)" })
        #expect(requests.map(\.failure) == [nil, "413 M_TOO_LARGE"] + Array(repeating: nil, count: 6))
        let stored = MediaReference(
            uri: "media:" + String(repeating: "ab", count: 32), name: "boat.png", type: "image/png", bytes: 9, width: 3,
            height: 2, thumbnailURI: "media:" + String(repeating: "cd", count: 32),
            blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj")
        let uploaded = MediaReference(uri: "mxc://a/b", name: "b.txt", type: "text/plain")
        let expected: [OutboxAction] = [
            .send(WrittenMessage("Hi @Ann Lee, **look** at `@Ann`", replyTo: MessageID("$q"))),
            .send(WrittenMessage("A boat", kind: .image, files: [stored, uploaded])),
            .send(WrittenMessage("waves", kind: .emote)),
            .send(WrittenMessage(WrittenText("2*3*4 <b>", syntax: .plain))),
            .edit(.message(MessageID("$m")), WrittenText("Edited for @Ann Lee")),
            .edit(.queued(TransactionID("t3")), WrittenText("waved")),
            .delete(.message(MessageID("$n"))),
            .react(.queued(TransactionID("t1")), text: "👍", isGiven: true),
        ]
        #expect(requests.map(\.action) == expected)
        #expect(requests.allSatisfy { $0.wasAttempted }, "the earlier version did not store attempts")
        // Rewriting them changes nothing.
        try await store.commit(OutboxChange(put: requests))
        #expect(try await store.outboxRequests().map(\.action) == expected)
        #expect(try await store.pendingCount() == PendingCount(messages: 4, changes: 4, drafts: 1))
        await store.close()
    }

    /// The media sweep keeps the files of both requests.
    @Test func mediaOfEarlierRequestsAreRetained() async throws {
        let store = try await open()
        let expected = Set(["ab", "cd"].map { "media:" + String(repeating: $0, count: 32) })
        #expect(try await store.mediaReferences(scheme: "media:") == expected)
        try await store.commit(OutboxChange(put: try await store.outboxRequests()))
        #expect(try await store.mediaReferences(scheme: "media:") == expected)
        await store.close()
    }

    /// Unreadable requests are retained, reported, counted, and never overwritten.
    @Test(
        arguments: [
            "{}", "no", #"{"later":{"_0":1}}"#,
            #"{"send":{"_0":{"version":2,"text":{"source":"x","syntax":"markdown"},"kind":"text","files":[],"#
                + #""origin":"composed"}}}"#,
        ])
    func unreadableRequestsAreRetained(action: String) async throws {
        let store = try await open()
        let key = OutboxChange.Key(room: RoomID("!room:a"), id: TransactionID("t1"))
        try await store.writePending { db in
            try db.execute(sql: "UPDATE outbox SET action = ? WHERE id = 't1'", arguments: [Data(action.utf8)])
        }
        var request = try #require(try await store.outboxRequests().first)
        #expect(request.action == .unreadable && request.failure == OutboxAction.unreadableReason)
        #expect(try await store.pendingCount().messages == 4)
        request.failure = nil
        try await store.commit(OutboxChange(put: [request]))
        let data = try await store.readPending { db in
            try Data.fetchOne(db, sql: "SELECT action FROM outbox WHERE id = 't1'")
        }
        #expect(data == Data(action.utf8))
        try await store.commit(OutboxChange(removed: [key]))
        #expect(try await store.outboxRequests().count == 7)
        await store.close()
    }

    /// A draft that consists of files alone counts as unsent.
    @Test func everyKindOfPendingRequestIsCounted() async throws {
        let fixture = try await StoreFixture()
        let draft = SavedDraft(data: Data(#"{"attachments":["media:ab"]}"#.utf8), preview: "")
        _ = try await fixture.store.saveDraft(draft, in: fixture.room)
        let target = OutboxTarget.message(MessageID("$m"))
        let actions: [OutboxAction] = [
            .send(WrittenMessage("text")), .edit(target, WrittenText("text")), .delete(target),
            .react(target, text: "👍", isGiven: false),
        ]
        let requests = actions.enumerated().map { number, action in
            OutboxRequest(
                id: TransactionID("\(number)"), room: fixture.room, action: action, queuedAt: Fixtures.date)
        }
        try await fixture.store.commit(OutboxChange(put: requests))
        #expect(try await fixture.store.pendingCount() == PendingCount(messages: 1, changes: 3, drafts: 1))
        try await fixture.store.commit(
            OutboxChange(removed: Set(requests.map { .init(room: $0.room, id: $0.id) }), sentDraft: fixture.room))
        #expect(try await fixture.store.pendingCount() == PendingCount())
    }
}
