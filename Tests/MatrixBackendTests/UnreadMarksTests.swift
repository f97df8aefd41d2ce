import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Which unread marks are sent to the server, and how the server's marks are read.
@Suite(.timeLimit(.minutes(10))) struct UnreadMarksTests {
    private let room = RoomID("!room:example.org")
    private let folder = TemporaryFolder()

    private func open(markingUnsent isMarked: Bool) async throws -> ChatStore {
        let store = try await ChatStore.open(in: folder.path("store"))
        _ = try await store.apply(SyncBatch(rooms: [RoomBatch(id: room, createdAt: Fixtures.date)]))
        try await store.setMarkedUnread(true, in: room, isUnsent: true)
        if !isMarked { try await store.setMarkedUnread(false, in: room, isUnsent: true) }
        return store
    }

    private func marks(_ transport: FakeTransport, _ store: ChatStore) -> UnreadMarks {
        UnreadMarks(client: transport.client, store: store, ownUserID: MemberID("@ann:example.org"))
    }

    @Test("A mark is set as account data of the room", arguments: [true, false])
    func markIsAccountData(isMarked: Bool) async throws {
        let store = try await open(markingUnsent: isMarked)
        let transport = FakeTransport(200)
        let marks = marks(transport, store)
        await marks.noteUnsent()
        await marks.sendUnsent()
        let request = try #require(transport.requests.first)
        #expect(request.method == .put)
        #expect(
            request.url.path.hasSuffix("/user/@ann:example.org/rooms/!room:example.org/account_data/m.marked_unread"))
        let body: JSONValue = ["unread": .bool(isMarked)]
        #expect(request.body == .json(try body.encoded()))
        #expect(try await store.unsentUnreadMarks().isEmpty)
        #expect(try await store.roomSummaries().first?.isMarkedUnread == isMarked)
        await store.close()
    }

    @Test("A mark stays unsent only while the server is unreachable", arguments: [502, 401, 403, 200])
    func markStaysUnsentWhileUnreachable(status: Int) async throws {
        let store = try await open(markingUnsent: true)
        let codes = [401: "M_MISSING_TOKEN", 403: "M_FORBIDDEN"]
        let transport = FakeTransport(status, codes[status].map { #"{"errcode":"\#($0)"}"# } ?? "{}")
        let isUnsent = [502, 401].contains(status)
        let marks = marks(transport, store)
        await marks.sendUnsent()
        #expect(transport.requests.isEmpty, "nothing has changed since the last time")
        await marks.noteUnsent()
        await marks.sendUnsent()
        #expect(try await store.unsentUnreadMarks() == (isUnsent ? [room: true] : [:]))
        #expect(await marks.hasUnsent == isUnsent)
        await store.close()
    }

    @Test("A mark stays unsent while the server blocks the account, but is not sent with each sync")
    func markOfABlockedAccount() async throws {
        let store = try await open(markingUnsent: true)
        let transport = FakeTransport(403, #"{"errcode":"M_CONSENT_NOT_GIVEN"}"#)
        let marks = marks(transport, store)
        await marks.noteUnsent()
        await marks.sendUnsent()
        await marks.sendUnsent()
        #expect(transport.requests.count == 1)
        #expect(try await store.unsentUnreadMarks() == [room: true])
        await store.close()
    }

    @Test(
        "Both kinds of sync read the mark under both of its names",
        arguments: [
            (#"{"type":"m.marked_unread","content":{"unread":true}}"#, true),
            (#"{"type":"com.famedly.marked_unread","content":{"unread":true}}"#, true),
            (
                #"{"type":"com.famedly.marked_unread","content":{"unread":true}},"#
                    + #"{"type":"m.marked_unread","content":{"unread":false}}"#, false
            ),
            (#"{"type":"m.marked_unread","content":{}}"#, false),
            (#"{"type":"m.marked_unread","content":{"unread":"yes"}}"#, false),
            (#"{"type":"m.tag","content":{}}"#, nil),
        ] as [(String, Bool?)])
    func syncReadsMarks(events: String, isMarked: Bool?) throws {
        let sliding = try SlidingSync.read(
            JSONValue(
                parsing: Data(
                    #"{"pos":"1","extensions":{"account_data":{"rooms":{"!room:example.org":[\#(events)]}}}}"#.utf8)))
        #expect(sliding.rooms.first?.isMarkedUnread == isMarked)
        let plain = try PlainSync.read(
            JSONValue(
                parsing: Data(
                    (#"{"next_batch":"1","rooms":{"join":{"!room:example.org":{"account_data":{"events":["#
                        + events + "]}}}}}").utf8)), since: "0")
        #expect(plain.rooms.first?.isMarkedUnread == isMarked)
    }
}
