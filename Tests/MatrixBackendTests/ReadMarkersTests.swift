import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Which read markers are sent to the server, and when.
@Suite(.timeLimit(.minutes(10))) struct ReadMarkersTests {
    private let room = RoomID("!room:example.org")
    private let folder = TemporaryFolder()

    private func store(unsent message: MessageID) async throws -> ChatStore {
        let store = try await ChatStore.open(in: folder.path("store"))
        _ = try await store.apply(SyncBatch(rooms: [RoomBatch(id: room, createdAt: Fixtures.date)]))
        try await store.setUnsentReadMarker(message, of: room)
        return store
    }

    @Test("A read marker stays unsent only while the server is unreachable", arguments: [502, 401, 403, 200])
    func markerStaysUnsentWhileUnreachable(status: Int) async throws {
        let marker = MessageID("$1")
        let store = try await store(unsent: marker)
        let codes = [401: "M_MISSING_TOKEN", 403: "M_FORBIDDEN"]
        let transport = FakeTransport(status, codes[status].map { #"{"errcode":"\#($0)"}"# } ?? "{}")
        let isUnsent = [502, 401].contains(status)
        let markers = ReadMarkers(client: transport.client, store: store, ownUserID: MemberID("@me:example.org"))
        await markers.send(marker, in: room)
        #expect(try await store.unsentReadMarkers() == (isUnsent ? [room: marker] : [:]))
        #expect(await markers.hasUnsent == isUnsent)
        await store.close()
    }

    @Test(
        "A read marker stays unsent while the server blocks the account, but is not sent with each sync",
        arguments: [
            (403, "M_CONSENT_NOT_GIVEN"), (403, "M_RESOURCE_LIMIT_EXCEEDED"), (401, "M_USER_LOCKED"),
            (404, "M_UNRECOGNIZED"),
        ])
    func markerOfABlockedAccount(status: Int, code: String) async throws {
        let marker = MessageID("$1")
        let store = try await store(unsent: marker)
        let transport = FakeTransport(status, #"{"errcode":"\#(code)","soft_logout":true}"#)
        let markers = ReadMarkers(client: transport.client, store: store, ownUserID: MemberID("@me:example.org"))
        await markers.send(marker, in: room)
        #expect(try await store.unsentReadMarkers() == [room: marker])
        #expect(await !markers.hasUnsent)
        await markers.noteInterruption()
        await markers.sendUnsent()
        #expect(transport.requests.count == 2)
        await store.close()
    }

    @Test("Unsent markers are sent again only after an interruption")
    func markersAreResentAfterAnInterruption() async throws {
        let store = try await store(unsent: MessageID("$1"))
        let transport = FakeTransport(200)
        let markers = ReadMarkers(client: transport.client, store: store, ownUserID: MemberID("@me:example.org"))
        await markers.sendUnsent()
        #expect(transport.requests.isEmpty)
        await markers.noteInterruption()
        await markers.sendUnsent()
        #expect(transport.requests.count == 1)
        #expect(try await store.unsentReadMarkers().isEmpty)
        await store.close()
    }

    @Test("A marker that is sent again after an interruption reads the same later events, and a later marker does not")
    func latestEventIsResent() async throws {
        let store = try await store(unsent: MessageID("$1"))
        let status = Mutex<Int64>(502)
        let transport = FakeTransport.responding { _ in ["status": .integer(status.withLock { $0 })] }
        let markers = ReadMarkers(client: transport.client, store: store, ownUserID: MemberID("@me:example.org"))
        await markers.send(MessageID("$1"), in: room, through: MessageID("$edit"))
        #expect(try await store.unsentReadMarkers() == [room: MessageID("$1")])
        status.withLock { $0 = 200 }
        await markers.noteInterruption()
        await markers.sendUnsent()
        #expect(try await store.unsentReadMarkers().isEmpty)
        try await store.setUnsentReadMarker(MessageID("$2"), of: room)
        await markers.noteInterruption()
        await markers.sendUnsent()
        #expect(transport.requests.map { $0.json?["m.read"]?.string } == ["$edit", "$edit", "$2"])
        await store.close()
    }

    @Test("A marker that is set while an earlier one is sent stays unsent, and is sent after it")
    func laterMarker() async throws {
        let store = try await store(unsent: MessageID("$1"))
        let found = Mutex<ReadMarkers?>(nil)
        let transport = FakeTransport.responding { [room] request in
            // Between the server's response and its arrival.
            guard request.json?["m.read"] == "$1", let markers = found.withLock({ $0 }) else { return }
            for message in ["$2", "$3"].map({ MessageID($0) }) {
                try await store.setUnsentReadMarker(message, of: room)
                await markers.send(message, in: room)
            }
        } _: { _ in
            [:]
        }
        let markers = ReadMarkers(client: transport.client, store: store, ownUserID: MemberID("@me:example.org"))
        found.withLock { $0 = markers }
        await markers.send(MessageID("$1"), in: room)
        #expect(transport.requests.map { $0.json?["m.read"]?.string } == ["$1", "$3"])
        #expect(try await store.unsentReadMarkers().isEmpty)
        await store.close()
    }

    @Test("A marker that waits is sent with the next sync if the call for an earlier one comes after its own")
    func callsInAnotherOrder() async throws {
        let store = try await store(unsent: MessageID("$1"))
        let found = Mutex<ReadMarkers?>(nil)
        let transport = FakeTransport.responding { [room] request in
            // Between the server's response and its arrival.
            guard request.json?["m.read"] == "$1", let markers = found.withLock({ $0 }) else { return }
            try await store.setUnsentReadMarker(MessageID("$3"), of: room)
            for message in ["$3", "$2"].map({ MessageID($0) }) { await markers.send(message, in: room) }
        } _: { _ in
            [:]
        }
        let markers = ReadMarkers(client: transport.client, store: store, ownUserID: MemberID("@me:example.org"))
        found.withLock { $0 = markers }
        await markers.send(MessageID("$1"), in: room)
        #expect(try await store.unsentReadMarkers() == [room: MessageID("$3")])
        await markers.sendUnsent()
        #expect(transport.requests.map { $0.json?["m.read"]?.string } == ["$1", "$3"])
        #expect(try await store.unsentReadMarkers().isEmpty)
        await store.close()
    }

    @Test("A marker is not sent once a later one is stored, or once the server has a later one")
    func earlierMarker() async throws {
        let store = try await store(unsent: MessageID("$2"))
        let transport = FakeTransport(200)
        let markers = ReadMarkers(client: transport.client, store: store, ownUserID: MemberID("@me:example.org"))
        await markers.send(MessageID("$1"), in: room)
        #expect(try await store.unsentReadMarkers() == [room: MessageID("$2")])
        try await store.removeUnsentReadMarker(MessageID("$2"), of: room)
        await markers.send(MessageID("$2"), in: room)
        #expect(transport.requests.isEmpty)
        await store.close()
    }

    @Test("From the next marker on, private receipts reach only the user's own devices", arguments: [true, false])
    func privateReceipts(isPrivate: Bool) async throws {
        let store = try await store(unsent: MessageID("$1"))
        let transport = FakeTransport(200)
        let privacy = PrivacyPreference()
        let markers = ReadMarkers(
            client: transport.client, store: store, ownUserID: MemberID("@me:example.org"), privacy: privacy)
        privacy.current.sharesReadReceipts = !isPrivate
        await markers.send(MessageID("$1"), in: room)
        let receipt = isPrivate ? "m.read.private" : "m.read"
        let body = JSONValue.object(["m.fully_read": "$1", receipt: "$1"])
        #expect(transport.requests.map(\.body) == [.json(try body.encoded())])
        await store.close()
    }

    @Test func privateAccountSendsPrivateReceipts() async throws {
        let store = try await store(unsent: MessageID("$1"))
        let transport = FakeTransport(200)
        let privacy = PrivacyPreference()
        privacy.privateAccounts = ["@me:example.org"]
        let markers = ReadMarkers(
            client: transport.client, store: store, ownUserID: MemberID("@me:example.org"), privacy: privacy)
        await markers.send(MessageID("$1"), in: room)
        let body = JSONValue.object(["m.fully_read": "$1", "m.read.private": "$1"])
        #expect(transport.requests.map(\.body) == [.json(try body.encoded())])
        #expect(privacy.current(of: MemberID("@other:example.org")) == Privacy())
        await store.close()
    }
}
