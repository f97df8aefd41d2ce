import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Local echoes of edits, reactions and deletions.
@Suite(.timeLimit(.minutes(10))) struct ChangeEchoTests {
    private let own = "@me:example.org"
    private let room = RoomID("!room:example.org")
    private let ids = ["$1", "$2", "$3"].map { MessageID($0) }

    private func sync(_ token: String, _ events: [JSONValue]) -> JSONValue {
        ["next_batch": .string(token), "rooms": ["join": [room.rawValue: ["timeline": ["events": .array(events)]]]]]
    }

    private var messages: [JSONValue] { ids.map { Events.text($0.rawValue, "said", by: own) } }

    private func changeAll(_ backend: MatrixBackend) async throws {
        try await backend.edit(ids[0], in: room, text: "edited")
        try await backend.react("👍", isAdded: true, to: ids[1], in: room)
        try await backend.delete(ids[2], in: room)
    }

    private func isChanged(_ messages: [Message]) -> Bool {
        messages.count == 3 && messages[0].text == "edited" && messages[0].editedAt != nil
            && messages[1].reactions == [Reaction(text: "👍", senders: [MemberID(own)])] && messages[2].isDeleted
    }

    @Test func offlineChangesAreShownAtOnceAndAfterRestart() async throws {
        let folder = TemporaryFolder()
        var server = FakeHomeserver { _ in nil }
        var (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", messages))
        try await server.waitUntilConsumed()
        await backend.outbox.setOnline(false)
        try await changeAll(backend)
        let shown = await backend.displayed(in: room, where: isChanged)
        #expect(shown.map(\.pendingChange?.kind) == [.edit, .reaction, .deletion])
        #expect(isChanged(try await backend.messages(ids, in: room)))
        #expect(isChanged(try await backend.messages(in: room, before: .max, limit: 10).messages))
        #expect(isChanged(try await backend.messages(in: room, around: .message(ids[1]), limit: 10).messages))
        #expect(try await backend.revisions(of: ids[0], in: room).map(\.text) == ["said"])
        // A second tap removes the reaction again, and nothing needs to be sent.
        try await backend.react("👍", isAdded: false, to: ids[1], in: room)
        await backend.displayed(in: room) { $0[1].reactions.isEmpty }
        try await backend.react("👍", isAdded: true, to: ids[1], in: room)
        await backend.close()
        await store.close()

        server = FakeHomeserver { request in
            request.method == .put ? ["event_id": .string("$\(request.url.lastPathComponent)")] : nil
        }
        (backend, store) = try await server.start(in: folder)
        await backend.displayed(in: room, where: isChanged)
        await backend.sendingEnds(in: room)
        // Accepted changes stay visible until the sync delivers them.
        let accepted = await backend.displayed(in: room) { isChanged($0) && $0.allSatisfy { $0.pendingChange == nil } }
        #expect(accepted.count == 3)
        await backend.close()
        await store.close()
    }

    @Test func rejectedChangesAreShownAndReverted() async throws {
        let server = FakeHomeserver { _ in nil }
        let folder = TemporaryFolder()
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", messages))
        await backend.waitForRoom(room)
        try await changeAll(backend)
        let refused = await backend.displayed(in: room) { messages in
            messages.allSatisfy { $0.pendingChange?.isRejected == true }
        }
        #expect(refused.map(\.text) == ["said", "said", "said"])
        #expect(refused.map(\.reactions.isEmpty) == [true, true, true] && refused.allSatisfy { !$0.isDeleted })
        for message in refused { try await backend.discard(message.pendingChange?.transaction, in: room) }
        await backend.displayed(in: room) { $0.count == 3 && $0.allSatisfy { $0.pendingChange == nil } }
        await backend.close()
        await store.close()
    }

    /// The server has accepted the message, but the sync has not delivered it.
    @Test func localEchoCanBeChanged() async throws {
        let server = FakeHomeserver { request in
            request.method == .put ? ["event_id": .string("$\(request.url.lastPathComponent)")] : nil
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", messages))
        await backend.waitForRoom(room)
        let echo = try await backend.send(Fixtures.outgoing("echo", transaction: "t"), to: room)
        await backend.sendingEnds(in: room)
        try await backend.react("👍", isAdded: true, to: echo.id, in: room)
        await backend.displayed(in: room) { $0.last?.reactions.count == 1 }
        await backend.sendingEnds(in: room)
        await backend.displayed(in: room) { $0.last?.id == echo.id && $0.last?.reactions.count == 1 }
        try await backend.delete(echo.id, in: room)
        await backend.sendingEnds(in: room)
        await backend.displayed(in: room) { $0.last?.id == echo.id && $0.last?.isDeleted == true }
        server.sync(sync("s2", [Events.text("$t", "echo", by: own)]))
        let confirmed = await backend.displayed(in: room) { $0.last?.id == MessageID("$t") }
        #expect(confirmed.last?.isDeleted == true && confirmed.count == 4)
        await backend.close()
        await store.close()
    }

    /// The sync may skip the message for good. What was written after the edit must not wait for it.
    @Test(arguments: [true, false]) func localEchoCanBeEdited(serverHasIt: Bool) async throws {
        let text = Events.text("$t", "echo", by: own)
        let server = FakeHomeserver { request in
            if request.method == .put { return ["event_id": .string("$\(request.url.lastPathComponent)")] }
            guard request.url.path.contains("/event/") else { return nil }
            return serverHasIt ? text : ["errcode": "M_NOT_FOUND", "status": 404]
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", messages))
        await backend.waitForRoom(room)
        let echo = try await backend.send(Fixtures.outgoing("echo", transaction: "t"), to: room)
        await backend.sendingEnds(in: room)
        try await backend.edit(echo.id, in: room, text: "edited")
        try await backend.send(Fixtures.outgoing("next", transaction: "n"), to: room)
        try await server.receives("/n")
        let shown = await backend.displayed(in: room) { messages in
            messages.contains { $0.id == echo.id && $0.pendingChange?.isRejected == (serverHasIt ? nil : true) }
        }
        let edits = server.requests.filter { $0.method == .put }.compactMap(\.json).filter {
            $0["m.new_content"] != nil
        }
        #expect(edits.count == (serverHasIt ? 1 : 0))
        #expect(
            edits.allSatisfy { $0["m.relates_to"]?["event_id"] == "$t" && $0["m.new_content"]?["body"] == "edited" })
        #expect(shown.first { $0.id == echo.id }?.text == (serverHasIt ? "edited" : "echo"))
        await backend.close()
        await store.close()
    }
}
