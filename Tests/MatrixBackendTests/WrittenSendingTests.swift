import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// The written form of own messages survives the round trip through the server.
@Suite(.timeLimit(.minutes(10))) struct WrittenSendingTests {
    private let own = "@me:example.org"
    private let room = RoomID("!room:example.org")
    private let folder = TemporaryFolder()
    private static let greeting = WrittenText(
        "Hi Ann, *look*", mentioning: ["Ann": .member("@ann2:example.org")])
    private static let edited = WrittenText(
        "Hi Bob, *look*", mentioning: ["Bob": .member("@bob:example.org")])

    /// Returns a server that accepts every event and derives its ID from the transaction ID.
    private func server() -> FakeHomeserver {
        FakeHomeserver { request in
            if request.url.path.hasSuffix("/upload") { return ["content_uri": "mxc://example.org/up"] }
            return request.method == .put ? ["event_id": .string("$" + request.url.lastPathComponent)] : nil
        }
    }

    private func sync(_ token: String, _ events: [JSONValue]) -> JSONValue {
        ["next_batch": .string(token), "rooms": ["join": [room.rawValue: ["timeline": ["events": .array(events)]]]]]
    }

    /// Returns an own message as a sync returns it.
    private func sent(_ transaction: String, _ content: JSONValue, includesTransaction: Bool = true) -> JSONValue {
        Events.event(
            "$" + transaction, "m.room.message", content, by: own, at: 5000,
            unsigned: includesTransaction ? ["transaction_id": .string(transaction)] : [:])
    }

    /// Returns the contents of the sent messages by transaction ID.
    private func contents(_ server: FakeHomeserver) -> [String: JSONValue] {
        var found: [String: JSONValue] = [:]
        for request in server.requests where request.method == .put && request.url.path.contains("m.room.message") {
            guard case .json(let data) = request.body else { continue }
            // A body that is not JSON is missing from the result, which fails the comparison.
            found[request.url.lastPathComponent] = try? JSONValue(parsing: data)
        }
        return found
    }

    /// Makes a queued request unreadable to this version.
    private func damageRequest(holding text: String) async throws {
        let file = folder.path("store").appending(path: "unsent.sqlite")
        var data = try Data(contentsOf: file)
        if data.range(of: Data(text.utf8)) == nil {
            // A read that ends after the close leaves the request in the write-ahead log, which the next close empties.
            await (try ChatStore(folder: folder.path("store"))).close()
            data = try Data(contentsOf: file)
        }
        let place = try #require(data.range(of: Data(text.utf8)))
        let name = try #require(data.range(of: Data(#"{"send""#.utf8), options: .backwards, in: 0..<place.lowerBound))
        data.replaceSubrange(name, with: Data(#"{"sent""#.utf8))
        try data.write(to: file)
    }

    /// In either order of response and sync, through an edit and a restart.
    @Test(arguments: [false, true], [false, true])
    func writtenFormSurvivesSyncEditAndRestart(includesTransaction: Bool, isEdited: Bool) async throws {
        let server = server()
        var (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", [Events.text("$1", "Hello")]))
        await backend.waitForRoom(room)
        let echo = try await backend.send(
            WrittenMessage(Self.greeting), as: TransactionID("t"), to: room)
        #expect(echo.written == Self.greeting)
        await backend.sendingEnds(in: room)
        let content = try #require(contents(server)["t"])
        #expect(content["m.mentions"] == ["user_ids": ["@ann2:example.org"]])
        server.sync(sync("s2", [sent("t", content, includesTransaction: includesTransaction)]))
        let id = MessageID("$t")
        await backend.displayed(in: room) { $0.last?.id == id && $0.last?.written == Self.greeting }
        if isEdited {
            try await backend.edit(id, in: room, to: Self.edited)
            await backend.displayed(in: room) { $0.last?.written == Self.edited }
            await backend.sendingEnds(in: room)
            let edit = try #require(contents(server).first { $0.key != "t" })
            #expect(edit.value["m.mentions"] == ["user_ids": ["@bob:example.org"]])
            server.sync(sync("s3", [sent(edit.key, edit.value)]))
            try await server.waitUntilConsumed()
            #expect(try await backend.revisions(of: id, in: room).map(\.wording.written) == [Self.greeting])
        }
        let expected = isEdited ? Self.edited : Self.greeting
        #expect(try await backend.messages([id], in: room).first?.written == expected)
        await backend.close()
        await store.close()
        (backend, store) = try await self.server().start(in: folder)
        #expect(try await backend.messages(in: room, before: .max, limit: 5).messages.last?.written == expected)
        await backend.close()
        await store.close()
    }

    /// The response was stored, but the sync arrived only after a restart.
    @Test func writtenFormSurvivesARestartBeforeTheSync() async throws {
        let first = server()
        var (backend, store) = try await first.start(in: folder)
        first.sync(sync("s1", [Events.text("$1", "Hello")]))
        await backend.waitForRoom(room)
        try await backend.send(WrittenMessage(Self.greeting), as: TransactionID("t"), to: room)
        await backend.sendingEnds(in: room)
        let content = try #require(contents(first)["t"])
        await backend.close()
        await store.close()
        let second = server()
        (backend, store) = try await second.start(in: folder)
        second.sync(sync("s2", [sent("t", content)]))
        await backend.displayed(in: room) { $0.last?.written == Self.greeting }
        await backend.close()
        await store.close()
    }

    @Test("A server that takes no files rejects the message: the file is not uploaded again and again")
    func uploadsThatTheServerDoesNotOffer() async throws {
        let server = FakeHomeserver { request in
            guard request.url.path.hasSuffix("/upload") else { return nil }
            return ["status": 404, "errcode": "M_UNRECOGNIZED"]
        }
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", [Events.text("$1", "Hello")]))
        await backend.waitForRoom(room)
        let file = try await backend.storeMedia(.data(Data("file".utf8)), named: "file", type: "text/plain") { _ in }
        try await backend.send(
            WrittenMessage(Self.greeting, kind: .file, files: [file]), as: TransactionID("t"), to: room)
        for await items in backend.outbox.items(in: room) {
            guard case .failed(let reason)? = items.first?.state else { continue }
            #expect(reason == "404 M_UNRECOGNIZED")
            break
        }
        #expect(server.requests.count { $0.url.path.hasSuffix("/upload") } == 1)
        await backend.close()
        await store.close()
    }

    /// The file of an unsent message survives the media sweep.
    @Test func filesOfUnsentMessagesAreRetained() async throws {
        let first = FakeHomeserver { _ in nil }
        var (backend, store) = try await first.start(in: folder)
        first.sync(sync("s1", [Events.text("$1", "Hello")]))
        await backend.waitForRoom(room)
        await backend.outbox.setOnline(false)
        func file(_ name: String) async throws -> MediaReference {
            try await backend.storeMedia(.data(Data(name.utf8)), named: name, type: "text/plain") { _ in }
        }
        var queued = try await file("queued")
        queued.thumbnailURI = try await file("poster").uri
        let dropped = try await file("dropped")
        try await backend.send(
            WrittenMessage(Self.greeting, kind: .file, files: [queued], reply: .init(to: MessageID("$1"))),
            as: TransactionID("t"), to: room)
        await backend.close()
        await store.close()

        let days: Int64 = 10 * 24 * 60 * 60 * 1000
        let later = Int64(Date().timeIntervalSince1970 * 1000) + days
        let second = server()
        (backend, store) = try await second.start(in: folder, at: later)
        await backend.media.sweep()
        await #expect(throws: ChatError.notFound, "what nothing needs is gone") {
            try await backend.content(of: dropped)
        }
        await backend.outbox.setOnline(true)
        second.sync(sync("s1", []))
        await backend.sendingEnds(in: room)
        let uploads = second.requests.filter { $0.url.path.hasSuffix("/upload") }
        #expect(uploads.count == 2)
        let content = try #require(contents(second)["t"])
        #expect(content["url"] == "mxc://example.org/up" && content["body"]?.string?.contains("Ann") == true)
        #expect(content["m.relates_to"]?["m.in_reply_to"]?["event_id"] == "$1")
        await backend.close()
        await store.close()
    }

    /// A request of a later version, or a damaged one, is shown at the end of the timeline, stays stored, blocks no other
    /// request, and is removed only by the user.
    @Test func unreadableRequestIsShownAndRetained() async throws {
        let first = FakeHomeserver { _ in nil }
        var (backend, store) = try await first.start(in: folder)
        first.sync(sync("s1", [Events.text("$1", "Hello")]))
        await backend.waitForRoom(room)
        await backend.outbox.setOnline(false)
        try await backend.send(WrittenMessage(Self.greeting), as: TransactionID("t"), to: room)
        try await backend.send(WrittenMessage("next"), as: TransactionID("u"), to: room)
        await backend.close()
        await store.close()
        try await damageRequest(holding: "*look*")
        let second = server()
        (backend, store) = try await second.start(in: folder)
        let shown = await backend.displayed(in: room) { messages in messages.contains { $0.delivery == .failed } }
        // The request after it is sent, whether or not the timeline shows that.
        try await second.receives("/u")
        let failed = try #require(shown.first { $0.delivery == .failed })
        #expect(failed.text.contains("another version"))
        try await backend.retry(nil, in: room)
        #expect(try await store.outboxRequests().first?.action == .unreadable)
        try await backend.delete(failed.id, in: room)
        #expect(try await !store.outboxRequests().map(\.action).contains(.unreadable))
        await backend.close()
        await store.close()
    }

    /// Names in requests queued by earlier versions become mentions.
    @Test func namesInEarlierRequestsBecomeMentions() async throws {
        try EarlierStore.namesAreMentions.copy(to: folder.path("store"))
        let store = try await ChatStore.open(in: folder.path("store"))
        var batch = RoomBatch(id: RoomID("!room:a"), createdAt: Fixtures.date)
        batch.members = [Member(id: MemberID("@lee:a"), displayName: "Ann Lee", kind: .person)]
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        let requests = try await EarlierRequests(store: store).converted(store.outboxRequests())
        let lee = MentionTarget.member("@lee:a")
        let message = WrittenText("Hi @Ann Lee, **look** at `@Ann`", mentioning: ["@Ann Lee": lee])
        let edit = WrittenText("Edited for @Ann Lee", mentioning: ["@Ann Lee": lee])
        #expect(requests[0].action == .send(WrittenMessage(message, reply: .init(to: MessageID("$q")))))
        #expect(requests[4].action == .edit(.message(MessageID("$m")), edit))
        #expect(requests.allSatisfy { !$0.namesAreMentions })
        await store.close()
    }

    /// The server's size limit is checked before anything is lost.
    @Test func messageSizeLimitIsChecked() async throws {
        let server = server()
        let (backend, store) = try await server.start(in: folder)
        server.sync(sync("s1", [Events.text("$1", "Hello", by: own)]))
        await backend.waitForRoom(room)
        let short = WrittenMessage("short")
        func excess(_ message: WrittenMessage, isEdit: Bool = false) -> Int {
            backend.excess(of: message, isEdit: isEdit, in: room)
        }
        #expect(excess(short) < -50_000 && excess(short, isEdit: true) < -25_000)
        let long = WrittenMessage(String(repeating: "x", count: 40_000))
        #expect(excess(long) < 0 && excess(long, isEdit: true) > 0)
        // The formatted body counts toward the limit.
        let styled = WrittenMessage("**" + String(repeating: "x", count: 40_000) + "**")
        #expect(excess(styled) > 0)
        await #expect(throws: ChatError.messageTooLong) {
            try await backend.send(styled, as: TransactionID("t"), to: room)
        }
        await #expect(throws: ChatError.messageTooLong) {
            try await backend.edit(MessageID("$1"), in: room, to: long.text)
        }
        await backend.close()
        await store.close()
    }

    @Test func captionCanBeRemoved() async throws {
        let server = server()
        let (backend, store) = try await server.start(in: folder)
        let file: JSONValue = [
            "msgtype": "m.image", "body": "A boat", "filename": "boat.png", "url": "mxc://example.org/1",
        ]
        server.sync(
            sync("s1", [Events.text("$1", "text", by: own), Events.event("$2", "m.room.message", file, by: own)]))
        await backend.waitForRoom(room)
        await #expect(throws: ChatError.emptyMessage) {
            try await backend.edit(MessageID("$1"), in: room, to: WrittenText())
        }
        try await backend.edit(MessageID("$2"), in: room, to: WrittenText())
        await backend.displayed(in: room) { $0.last?.text == "" && $0.last?.attachments.count == 1 }
        await backend.sendingEnds(in: room)
        let content = try #require(contents(server).values.first?["m.new_content"])
        #expect(content["body"] == "boat.png" && content["filename"] == "boat.png" && content["url"] == file["url"])
        await backend.displayed(in: room) { $0.last?.text == "" && $0.last?.pendingChange == nil }
        await backend.close()
        await store.close()
    }
}
