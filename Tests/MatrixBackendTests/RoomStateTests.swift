import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import ChatStore
@testable import MatrixBackend

/// Room names and topics from incremental syncs.
@Suite(.timeLimit(.minutes(10))) struct RoomStateTests {
    private let room = RoomID("!room:example.org")
    private let ann = "@ann:example.org"
    private let folder = TemporaryFolder()

    private func syncResponse(_ token: String, _ timeline: [JSONValue], _ more: [String: JSONValue] = [:]) -> JSONValue
    {
        let roomUpdate: JSONValue = .object(
            ["timeline": ["events": .array(timeline)]].merging(more) { _, new in new })
        return ["next_batch": .string(token), "rooms": ["join": .object([room.rawValue: roomUpdate])]]
    }

    private func state(_ id: String, _ type: String, _ content: JSONValue, key: String = "") -> JSONValue {
        Events.event(id, type, content, stateKey: key)
    }

    private func redaction(of id: String) -> JSONValue {
        Events.event("$x\(id)", "m.room.redaction", ["redacts": .string(id)])
    }

    /// Rooms with members whose name was removed, or that have no name and an invalid alias.
    static let nameless: [(String, [JSONValue])] = [
        ("name", [Events.event("$n", "m.room.name", ["name": ""], stateKey: "")]),
        ("alias", [Events.event("$a", "m.room.canonical_alias", ["alias": .null], stateKey: "")]),
        ("redaction", [Events.event("$x", "m.room.redaction", ["redacts": "$name"])]),
        ("member", [Events.member("@cleo:example.org", "Cleo", "leave")]),
    ]

    @Test(arguments: nameless) func unnamedRoomIsNamedAfterItsMembers(_ what: String, _ news: [JSONValue])
        async throws
    {
        let server = FakeHomeserver { _ in nil }
        let (backend, store) = try await server.start(in: folder)
        func name() async throws -> String? {
            try await server.waitUntilConsumed()
            return try await store.roomSummaries().first?.room.name
        }
        var people = [
            Events.member("@me:example.org", "Me"), Events.member(ann, "Ann"), Events.member("@bob:example.org", "Bob"),
        ]
        if what == "member" { people.append(Events.member("@cleo:example.org", "Cleo")) }
        if what != "alias", what != "member" { people.append(state("$name", "m.room.name", ["name": "Garden"])) }
        server.sync(syncResponse("1", people))
        #expect(try await name() == ["alias": "Ann, Bob", "member": "Ann, Bob, Cleo"][what] ?? "Garden")
        server.sync(syncResponse("2", news))
        #expect(try await name() == "Ann, Bob")
        server.sync(syncResponse("3", [Events.member("@bob:example.org", "Bob", "leave")]))
        #expect(try await name() == "Ann")
        server.sync(syncResponse("4", [Events.member(ann, "Ann", "leave")]))
        #expect(try await name() == "Empty Room")
        await backend.close()
        await store.close()
    }

    /// A hero named by the server may be a user who is only invited.
    @Test func heroesAreRemembered() async throws {
        let server = FakeHomeserver { _ in nil }
        let (backend, store) = try await server.start(in: folder)
        let invited = Events.event(
            "$i", "m.room.member", ["membership": "invite", "displayname": "Bob"], by: "@me:example.org",
            stateKey: "@bob:example.org")
        server.sync(
            syncResponse(
                "1", [Events.member("@me:example.org", "Me"), invited], ["summary": ["m.heroes": ["@bob:example.org"]]])
        )
        for token in ["2", "3"] {
            server.sync(
                syncResponse(token, [state("$n\(token)", "m.room.name", token == "2" ? ["name": "Garden"] : [:])]))
        }
        try await server.waitUntilConsumed()
        #expect(try await store.roomSummaries().map(\.room.name) == ["Bob"])
        await backend.close()
        await store.close()
    }

    @Test func redactedStateIsReset() async throws {
        let server = FakeHomeserver { _ in nil }
        let (backend, store) = try await server.start(in: folder)
        server.sync(
            syncResponse(
                "1",
                [
                    Events.member("@me:example.org", "Me"), Events.member(ann, "Rude"),
                    state("$old", "m.room.topic", ["topic": "Old"]), state("$topic", "m.room.topic", ["topic": "Rude"]),
                    state("$name", "m.room.name", ["name": "Rude"]),
                    state("$avatar", "m.room.avatar", ["url": "mxc://a/b"]),
                    state("$alias", "m.room.canonical_alias", ["alias": "#rude:a"]),
                ]))
        // Redacting replaced state, or an event that set none, changes nothing.
        server.sync(syncResponse("2", [redaction(of: "$old"), redaction(of: "$none")]))
        try await server.waitUntilConsumed()
        func summary() async throws -> RoomSummary { try #require(try await store.roomSummaries().first) }
        #expect(try await summary().room.name == "Rude")
        #expect(try await backend.topic(of: room) == "Rude")
        server.sync(syncResponse("3", ["$topic", "$name", "$avatar", "$member@ann:example.org"].map(redaction)))
        try await server.waitUntilConsumed()
        #expect(try await summary().room.name == "#rude:a")
        #expect(try await backend.topic(of: room) == nil)
        #expect(try await summary().room.avatar == nil)
        let member = try await store.member(MemberID(ann), of: room)
        #expect(member?.displayName == ann && member?.hasLeft == false)
        server.sync(syncResponse("4", [redaction(of: "$alias")]))
        try await server.waitUntilConsumed()
        #expect(try await summary().room.name == ann)
        #expect(try await summary().room.address == nil)
        // Set and redacted in one response, then set again.
        server.sync(
            syncResponse(
                "5",
                [
                    state("$name2", "m.room.name", ["name": "Rude"]), redaction(of: "$name2"),
                    state("$topic2", "m.room.topic", ["topic": "Rude"]), redaction(of: "$topic2"),
                    state("$topic3", "m.room.topic", ["topic": "Kind"]), redaction(of: "$topic"),
                ]))
        try await server.waitUntilConsumed()
        #expect(try await summary().room.name == ann)
        #expect(try await backend.topic(of: room) == "Kind")
        await backend.close()
        await store.close()
    }

    @Test("A member whose name is redacted and set anew in one response has the new name, and so has their room")
    func memberIsNamedAnewWithTheRedaction() async throws {
        let server = FakeHomeserver { _ in nil }
        let (backend, store) = try await server.start(in: folder)
        server.sync(syncResponse("1", [Events.member("@me:example.org", "Me"), Events.member(ann, "Rude")]))
        let content: JSONValue = ["membership": "join", "displayname": "Ann"]
        let named = Events.event("$named", "m.room.member", content, by: ann, stateKey: ann)
        server.sync(syncResponse("2", [redaction(of: "$member\(ann)"), named]))
        try await server.waitUntilConsumed()
        #expect(try await store.member(MemberID(ann), of: room)?.displayName == "Ann")
        // Another change in it names the room from the stored names.
        server.sync(syncResponse("3", [Events.member("@bob:example.org", "Bob")]))
        try await server.waitUntilConsumed()
        #expect(try await store.roomSummaries().first?.room.name == "Ann, Bob")
        // Leaving without a name, as most do, sets none: the redaction still counts.
        let left = Events.event("$left", "m.room.member", ["membership": "leave"], by: ann, stateKey: ann)
        server.sync(syncResponse("4", [redaction(of: "$named"), left]))
        try await server.waitUntilConsumed()
        #expect(try await store.member(MemberID(ann), of: room)?.displayName == ann)
        await backend.close()
        await store.close()
    }

    /// The redaction was in the part that a limited sync omitted.
    @Test func redactionInAGapResetsStateOnceFetched() async throws {
        let missed = redaction(of: "$name")
        let server = FakeHomeserver { request in
            request.url.path.hasSuffix("/messages") ? ["chunk": [missed]] : nil
        }
        let (backend, store) = try await server.start(in: folder)
        server.sync(syncResponse("1", [Events.member(ann, "Ann"), state("$name", "m.room.name", ["name": "Rude"])]))
        let later: JSONValue = ["events": [Events.text("$1", "x")], "limited": true, "prev_batch": "p"]
        server.sync(syncResponse("2", [], ["timeline": later]))
        try await server.waitUntilConsumed()
        for await rooms in backend.roomSummaries() where rooms.first?.room.name == "Ann" { break }
        await backend.close()
        await store.close()
    }

    @Test("Whichever access fails while history is stored, a redaction of state in it counts once the gap is filled")
    func redactionInHistory() async throws {
        let missed = redaction(of: "$name")
        var (number, count) = (0, 0)
        repeat {
            number += 1
            let transport = FakeTransport.responding { request in
                request.url.path.hasSuffix("/messages") ? ["chunk": [missed]] : nil
            }
            let parts = try await AccountParts.make(transport.client)
            var batch = AccountParts.batch()
            batch.state = .unencrypted
            batch.state?.name = "Rude"
            batch.origins = [StateOrigin.Subject(type: "m.room.name", key: ""): MessageID("$name")]
            _ = try await parts.store.apply(SyncBatch(rooms: [batch]))
            let gap = try #require(try await parts.store.gaps(in: AccountParts.room).last)
            let failing = number
            let accesses = Mutex(0)
            parts.store.beforeAccess.withLock {
                $0 = {
                    let fails = accesses.withLock { count in
                        count += 1
                        return count == failing
                    }
                    if fails { throw ChatError.storage(reason: "failed on purpose") }
                }
            }
            // It may fail.
            _ = try? await parts.filler.fill(gap, in: AccountParts.room)
            count = accesses.withLock { $0 }
            parts.store.beforeAccess.withLock { $0 = {} }
            for gap in try await parts.store.gaps(in: AccountParts.room) {
                try await parts.filler.fill(gap, in: AccountParts.room)
            }
            #expect(try await parts.store.roomState(of: AccountParts.room).name == nil, "access \(number)")
            await parts.store.close()
        } while number <= count
        #expect(number > 3)
    }

    @Test("A redaction of state in history that is fetched forwards resets the state")
    func redactionForwards() async throws {
        let missed = redaction(of: "$name")
        let transport = FakeTransport.responding { request in
            request.url.path.hasSuffix("/messages") ? ["chunk": [missed]] : nil
        }
        let parts = try await AccountParts.make(transport.client)
        var batch = AccountParts.batch()
        batch.state = .unencrypted
        batch.state?.name = "Rude"
        batch.origins = [StateOrigin.Subject(type: "m.room.name", key: ""): MessageID("$name")]
        _ = try await parts.store.apply(SyncBatch(rooms: [batch]))
        var gap = try #require(try await parts.store.gaps(in: AccountParts.room).last)
        gap.forward = "f1"
        _ = try await parts.filler.fillForward(gap, in: AccountParts.room)
        #expect(try await parts.store.roomState(of: AccountParts.room).name == nil)
        await parts.store.close()
    }

    @Test(
        "Which messages the user may not send follows each sync, and is known after a restart without a server",
        arguments: [true, false])
    func forbiddenMessages(_ sliding: Bool) async throws {
        let server = FakeHomeserver { _ in nil }
        func update(_ token: String, _ events: [JSONValue]) -> JSONValue {
            guard sliding else { return syncResponse(token, events) }
            let roomUpdate: JSONValue = ["required_state": .array(events)]
            return ["pos": .string(token), "rooms": .object([room.rawValue: roomUpdate])]
        }
        func start(_ server: FakeHomeserver, _ token: AccessToken?) async throws -> (MatrixBackend, ChatStore) {
            let store = try await ChatStore.open(in: folder.path("store"))
            let backend = try await MatrixBackend.start(
                over: store, server: URL(filePath: "/"), ownUserID: MemberID("@me:example.org"), token: token,
                hasSlidingSync: sliding, transport: server)
            return (backend, store)
        }
        func levels(_ id: String, _ needed: Int64) -> JSONValue {
            state(id, "m.room.power_levels", ["events_default": .integer(needed), "users": [ann: 100]])
        }
        let (backend, store) = try await start(server, AccessToken("secret"))
        let creation = state("$create", "m.room.create", ["room_version": "11"])
        server.sync(update("1", [creation, Events.member("@me:example.org", "Me"), levels("$1", 50)]))
        try await server.waitUntilConsumed()
        #expect(try await backend.headline(of: room).forbiddenMessages == [.unencrypted, .encrypted])
        server.sync(update("2", [levels("$2", 0)]))
        try await server.waitUntilConsumed()
        #expect(try await backend.headline(of: room).forbiddenMessages.isEmpty)
        server.sync(update("3", [levels("$3", 50)]))
        try await server.waitUntilConsumed()
        await backend.close()
        await store.close()
        let (restarted, reopened) = try await start(FakeHomeserver { _ in nil }, nil)
        #expect(try await restarted.headline(of: room).forbiddenMessages == [.unencrypted, .encrypted])
        await restarted.close()
        await reopened.close()
    }

    /// A repeated state event does not override newer state.
    @Test func repeatedStateEventIsNotNewer() async throws {
        let server = FakeHomeserver { _ in nil }
        let (backend, store) = try await server.start(in: folder)
        let (first, second) = (
            state("$1", "m.room.name", ["name": "First"]), state("$2", "m.room.name", ["name": "Second"])
        )
        server.sync(syncResponse("1", [first, second, first]))
        try await server.waitUntilConsumed()
        #expect(try await store.roomSummaries().map(\.room.name) == ["Second"])
        await backend.close()
        await store.close()
    }

    /// A number beyond all bounds cannot be serialized again.
    @Test func outOfRangeNumberDoesNotStopTheSync() async throws {
        let count = Mutex(0)
        let name = String(decoding: try state("$name", "m.room.name", ["name": "Garden"]).encoded(), as: UTF8.self)
        let transport = FakeTransport { request in
            guard request.url.path.hasSuffix("/sync") else { return MatrixResponse(status: 404, body: Data("{}".utf8)) }
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number < 3 else {
                throw CancellationError()
            }
            let events = ["m.push_rules", "m.direct"].map { #"{"type":"\#($0)","content":{"global":{},"x":1e999}}"# }
            let powers = Events.event("$p", "m.room.power_levels", ["ban": 50], stateKey: "")
            let levels = String(decoding: try powers.encoded(), as: UTF8.self).replacing("50", with: "-1e999")
            return MatrixResponse(
                status: 200,
                body: Data(
                    #"""
                    {"next_batch":"s\#(number)","account_data":{"events":[\#(events.joined(separator: ","))]},
                    "rooms":{"join":{"!room:example.org":{"timeline":{"events":[\#(number == 1 ? levels : name)]}}}}}
                    """#.utf8))
        }
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await MatrixBackend.start(
            over: store, server: URL(filePath: "/"), ownUserID: MemberID("@me:example.org"),
            token: AccessToken("secret"),
            hasSlidingSync: false, transport: transport)
        for await rooms in backend.roomSummaries() where rooms.first?.room.name == "Garden" { break }
        #expect(try await store.setting("matrix.sync.plain") == "s2")
        await backend.close()
        await store.close()
    }
}
