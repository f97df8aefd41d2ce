import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Updates that observers of a room or of the account receive.
@Suite(.timeLimit(.minutes(10))) struct RoomObservationTests {
    private let own = "@me:example.org"
    private let room = RoomID("!room:example.org")
    private let folder = TemporaryFolder()

    private func sync(_ token: String, _ events: [JSONValue]) -> JSONValue {
        [
            "next_batch": .string(token),
            "rooms": ["join": [room.rawValue: ["timeline": ["events": .array(events), "limited": false]]]],
        ]
    }

    private func start(_ server: any MatrixTransport, _ store: ChatStore) async throws -> MatrixBackend {
        let url = try #require(URL(string: "https://example.org"))
        let session = MatrixSession(user: MemberID(own), device: "D", token: AccessToken("secret"))
        return try await MatrixBackend.start(
            over: store, server: Homeserver(url: url, versions: ["v1.11"], features: []), session: session,
            transport: server)
    }

    private func open(_ backend: MatrixBackend) async {
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { return }
    }

    private func member(_ number: Int, _ name: String, _ membership: String = "join") -> JSONValue {
        Events.member("@m\(number):example.org", name, membership)
    }

    private func encryption() -> JSONValue {
        Events.event("$crypt", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: "")
    }

    /// Returns the members that events report as changed.
    private func changed(
        _ updates: inout AsyncStream<TimelineUpdate>.Iterator, _ server: FakeHomeserver, by events: [JSONValue],
        _ token: String
    ) async -> [String] {
        server.sync(sync(token, events))
        while let update = await updates.next(isolation: #isolation) {
            if case .members = update { return ["all of them"] }
            if case .membersChanged(let members) = update { return members.map(\.displayName) }
        }
        return []
    }

    /// In a room of any size only changed members are published, and those whose disambiguation changes with them.
    @Test func onlyChangedMembersArePublished() async throws {
        let server = FakeHomeserver { _ in nil }
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await start(server, store)
        let members = (0..<500).map { Events.member("@m\($0):example.org", "Member \($0)") }
        server.sync(sync("s1", [Events.member(own, "Me")] + members))
        await open(backend)
        var updates = backend.timeline(of: room, limit: 10).makeAsyncIterator()
        guard case .opened(_, let told, _)? = await updates.next() else { return #expect(Bool(false), "not opened") }
        #expect(told.count == 501 && told.last?.displayName == "Member 499")
        var names = await changed(&updates, server, by: [member(7, "Seven")], "s2")
        #expect(names == ["Seven"])
        names = await changed(&updates, server, by: [member(8, "seven")], "s3")
        #expect(names == ["seven (@m8:example.org)", "Seven (@m7:example.org)"])
        names = await changed(&updates, server, by: [member(9, "Seven")], "s4")
        #expect(names == ["Seven (@m9:example.org)"], "of three the others are as they were")
        names = await changed(&updates, server, by: [member(8, "Eight"), member(9, "9")], "s5")
        #expect(names == ["Eight", "9", "Seven"])
        names = await changed(&updates, server, by: [member(7, "Seven", "leave")], "s6")
        #expect(names == ["Seven"])
        await backend.close()
        await store.close()
    }

    /// A limited sync resets the timeline: old and new messages are not contiguous.
    @Test func limitedSyncResetsTheTimeline() async throws {
        let server = FakeHomeserver { _ in nil }
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await start(server, store)
        server.sync(sync("s1", [Events.member(own, "Me"), Events.text("$1", "First")]))
        await open(backend)
        var updates = backend.timeline(of: room, limit: 10).makeAsyncIterator()
        guard case .opened(let first, _, _)? = await updates.next() else { return #expect(Bool(false), "not opened") }
        #expect(first.messages.last?.text == "First" && !first.hasOlder)
        let missing: JSONValue = ["events": [Events.text("$9", "Ninth")], "limited": true, "prev_batch": "p"]
        server.sync(["next_batch": "s2", "rooms": ["join": [room.rawValue: ["timeline": missing]]]])
        guard case .opened(let page, _, _)? = await updates.next() else { return #expect(Bool(false), "goes on") }
        #expect(page.messages.map(\.text) == ["Ninth"] && page.hasOlder)
        server.sync(sync("s3", [Events.text("$10", "Tenth")]))
        guard case .changed(let next)? = await updates.next() else { return #expect(Bool(false), "not told") }
        #expect(next.map(\.text) == ["Tenth"])
        await backend.close()
        await store.close()
    }

    /// A permalink into a room joined through it: the message can be fetched once the sync has returned the room.
    @Test func messageInAJustJoinedRoomIsFound() async throws {
        let server = FakeHomeserver { [room] request in
            if request.url.path.contains("/join/") { return ["room_id": .string(room.rawValue)] }
            guard request.url.path.hasSuffix("/context/$1") else { return nil }
            let first = Events.text("$1", "First")
            return ["start": "p0", "end": "p2", "events_before": [], "event": first, "events_after": []]
        }
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await start(server, store)
        server.sync(["next_batch": "s1", "rooms": ["join": [:]]])
        try await server.waitUntilConsumed()
        #expect(try await backend.join(room.rawValue) == room)
        var updates = backend.timeline(of: room, limit: 10).makeAsyncIterator()
        guard case .opened(let empty, _, _)? = await updates.next() else { return #expect(Bool(false), "not opened") }
        #expect(empty.messages.isEmpty)
        async let found = backend.messages(in: room, around: .message(MessageID("$1")), limit: 10)
        let newest: JSONValue = [
            "events": [Events.member(own, "Me"), Events.text("$9", "Ninth", at: 1_700_000_009_000)], "limited": true,
            "prev_batch": "p",
        ]
        server.sync(["next_batch": "s2", "rooms": ["join": [room.rawValue: ["timeline": newest]]]])
        #expect(try await found.messages.map(\.text) == ["First"])
        while let update = await updates.next() {
            guard case .opened(let page, _, _) = update else { continue }
            #expect(page.messages.last?.text == "Ninth" && page.hasOlder)
            break
        }
        await backend.close()
        await store.close()
    }

    @Test func encryptionIsPublishedToObservers() async throws {
        let server = FakeHomeserver { _ in nil }
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await start(server, store)
        server.sync(sync("s1", [Events.member(own, "Me")]))
        await open(backend)
        #expect(try await !backend.isEncrypted(room))
        let updates = backend.timeline(of: room, limit: 10)
        server.sync(sync("s2", [encryption()]))
        for await update in updates where update == .encrypted { break }
        #expect(try await backend.isEncrypted(room))
        await backend.close()
        await store.close()
    }

    /// State changes while offline are unknown before the first sync: the server is asked before anything is sent.
    @Test func nothingIsSentUnencryptedAfterOfflineEncryption() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        var server = FakeHomeserver { _ in nil }
        var backend = try await start(server, store)
        server.sync(sync("s1", [Events.member(own, "Me")]))
        await open(backend)
        await backend.close()

        server = FakeHomeserver { request in
            if request.method == .put { return ["event_id": "$sent"] }
            return request.url.path.contains("/state/m.room.encryption") ? ["algorithm": "m.megolm.v1.aes-sha2"] : nil
        }
        backend = try await start(server, store)
        try await backend.send(Fixtures.outgoing("Secret", transaction: "t"), to: room)
        while try await store.roomState(of: room).encryption != .on { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await backend.isEncrypted(room), "and that is known from then on")
        await backend.close()
        #expect(!server.requests.contains { $0.method == .put })
        #expect(try await store.outboxRequests().map(\.id) == [TransactionID("t")], "it waits for keys")
        await store.close()
    }

    @Test func untrustedCertificateIsReported() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let server = FakeTransport { _ in throw TransportError.untrusted(.expired) }
        let backend = try await start(server, store)
        for await connection in backend.connectionStates() where connection != .connecting {
            #expect(connection == .untrusted(.expired))
            break
        }
        await backend.close()
        await store.close()
    }
}
