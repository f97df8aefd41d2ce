import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Names and topics of rooms, and the name of the user.
@Suite(.timeLimit(.minutes(10))) struct RoomSettingsTests {
    private let room = AccountParts.room

    private func settings(_ parts: AccountParts, status: SyncStatus = SyncStatus()) -> RoomSettings {
        RoomSettings(client: parts.client, writer: parts.writer, status: status)
    }

    @Test("A name or topic that the server accepts is stored, on one line")
    func accepted() async throws {
        let transport = FakeTransport.responding { _ in ["event_id": "$e"] }
        let parts = try await AccountParts.make(transport.client)
        try await settings(parts).rename(room, to: "  New \n name ")
        #expect(try await parts.store.room(room).name == "New name")
        try await settings(parts).setTopic("About\nit", of: room)
        #expect(try await parts.store.roomState(of: room).topic == "About it")
        try await settings(parts).setTopic(nil, of: room)
        #expect(try await parts.store.roomState(of: room).topic == nil)
        let bodies = transport.requests.map(\.body)
        #expect(
            try bodies
                == [["name": "New name"], ["topic": "About it"], ["topic": ""]].map { (body: JSONValue) in
                    .json(try body.encoded())
                })
        await parts.store.close()
    }

    @Test("A response that arrives after a sync leaves the later name and topic that it reported")
    func lateResponse() async throws {
        let synced = Mutex<AccountParts?>(nil)
        let transport = FakeTransport.responding { [room] request in
            // Between the server's response and its arrival.
            guard let parts = synced.withLock({ $0 }) else { return }
            try await parts.writer.serialized {
                if request.url.path.contains("m.room.name") {
                    try await parts.store.updateRoomState(of: room) { $0.name = "Later" }
                    try await parts.store.renameRoom(room, to: "Later")
                } else {
                    try await parts.store.updateRoomState(of: room) { $0.topic = "Later" }
                }
            }
        } _: { _ in
            ["event_id": "$e"]
        }
        let parts = try await AccountParts.make(transport.client)
        synced.withLock { $0 = parts }
        try await settings(parts).rename(room, to: "Earlier")
        try await settings(parts).setTopic("Earlier", of: room)
        #expect(transport.requests.count == 2)
        #expect(try await parts.store.room(room).name == "Later")
        let state = try await parts.store.roomState(of: room)
        #expect(state.name == "Later" && state.topic == "Later")
        await parts.store.close()
    }

    /// Writes a sync that sets the name of the room once or several times, and its topic.
    private func sync(
        _ names: [(id: String, name: String)], gap: String? = nil, into parts: AccountParts, status: SyncStatus
    ) async throws {
        let writer = SyncWriter(
            context: parts.context, writer: parts.writer, opener: parts.opener, sealed: parts.sealed,
            entered: EnteredRooms(), status: status, arrivals: ArrivalFeed()
        ) { _ in }
        var update = RoomUpdate(id: room)
        for (id, name) in names {
            let events = [
                Events.event(id, "m.room.name", ["name": .string(name)], stateKey: ""),
                Events.event("\(id)t", "m.room.topic", ["topic": .string(name)], stateKey: ""),
            ]
            update.timeline += try events.map { try #require(MatrixEvent($0)) }
        }
        update.state = update.timeline
        update.gap = gap
        try await writer.write(SyncUpdate(token: "s", rooms: [update]), as: "sync")
    }

    private func names(_ parts: AccountParts) async throws -> [String?] {
        let state = try await parts.store.roomState(of: room)
        return [try await parts.store.room(room).name, state.name, state.topic]
    }

    @Test("A sync that began before the room was renamed does not bring its earlier name and topic back")
    func earlierName() async throws {
        let transport = FakeTransport.responding { request in
            ["event_id": .string(request.url.path.contains("m.room.name") ? "$new" : "$newt")]
        }
        let parts = try await AccountParts.make(transport.client)
        let status = SyncStatus()
        _ = status.begin()
        try await settings(parts, status: status).rename(room, to: "New")
        try await settings(parts, status: status).setTopic("New", of: room)
        try await sync([("$old", "Old")], into: parts, status: status)
        #expect(try await names(parts) == ["New", "New", "New"])
        // One that began later has what counts, even without the event.
        _ = status.begin()
        try await sync([("$later", "Later")], into: parts, status: status)
        #expect(try await names(parts) == ["Later", "Later", "Later"])
        await parts.store.close()
    }

    @Test("What another client has set after this one counts, in whichever sync it comes", arguments: [true, false])
    func laterName(hasGap: Bool) async throws {
        let transport = FakeTransport.responding { request in
            ["event_id": .string(request.url.path.contains("m.room.name") ? "$new" : "$newt")]
        }
        let parts = try await AccountParts.make(transport.client)
        let status = SyncStatus()
        _ = status.begin()
        try await settings(parts, status: status).rename(room, to: "New")
        try await settings(parts, status: status).setTopic("New", of: room)
        let own = (id: "$new", name: "New")
        let later = (id: "$later", name: "Later")
        try await sync(hasGap ? [later] : [own, later], gap: hasGap ? "p" : nil, into: parts, status: status)
        #expect(try await names(parts) == ["Later", "Later", "Later"])
        await parts.store.close()
    }

    @Test("A new name stays while a sync reports something else")
    func nameIsKnown() async throws {
        let parts = try await AccountParts.make(FakeTransport.responding { _ in ["event_id": "$e"] }.client)
        try await settings(parts).rename(room, to: "New")
        var update = RoomUpdate(id: room)
        update.heroes = [RoomUpdate.Hero(id: MemberID("@ann:example.org"), name: "Ann")]
        let builder = parts.context.batchBuilder
        let known = try await parts.store.knownRooms([builder.request(for: update)], ownUserID: AccountParts.own)
        let batch = try #require(builder.batch(of: update, known: known))
        try await parts.writer.write(SyncBatch(rooms: [batch]))
        #expect(try await parts.store.room(room).name == "New")
        await parts.store.close()
    }

    @Test("Two changes are sent one after the other, and the later one counts", arguments: [false, true])
    func changesInOrder(isOwnName: Bool) async throws {
        let running = Mutex((now: 0, most: 0))
        let transport = FakeTransport.responding { _ in
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            for _ in 1...100 { await Task.yield() }
            running.withLock { $0.now -= 1 }
        } _: { _ in
            ["event_id": "$e"]
        }
        let parts = try await AccountParts.make(transport.client)
        let settings = settings(parts)
        let changes = ["First", "Second"].map { name in
            Task { [room] in
                if isOwnName {
                    try await settings.setDisplayName(name)
                } else {
                    try await settings.rename(room, to: name)
                }
            }
        }
        for change in changes { try await change.value }
        let most = running.withLock { $0.most }
        #expect(most == 1)
        let last = try #require(transport.requests.last?.json)
        let me = try await parts.store.member(AccountParts.own, of: room)
        let name = try await parts.store.room(room).name
        #expect((isOwnName ? me?.displayName : name) == last[isOwnName ? "displayname" : "name"]?.string)
        await parts.store.close()
    }

    @Test("A change that the server rejects has no effect")
    func denied() async throws {
        let parts = try await AccountParts.make(FakeTransport(403, #"{"errcode":"M_FORBIDDEN"}"#).client)
        let settings = settings(parts)
        await #expect(throws: ChatError.notPermitted) { try await settings.rename(room, to: "New") }
        await #expect(throws: ChatError.notPermitted) { try await settings.setTopic("About", of: room) }
        await #expect(throws: ChatError.notPermitted) { try await settings.setDisplayName("Robin") }
        #expect(try await parts.store.room(room).name == "Room")
        #expect(try await parts.store.roomState(of: room).topic == nil)
        #expect(try await parts.store.member(AccountParts.own, of: room)?.displayName == "Me")
        await parts.store.close()
    }

    @Test("Texts that are too long and unknown rooms cause no request")
    func invalid() async throws {
        let transport = FakeTransport(200)
        let parts = try await AccountParts.make(transport.client)
        let settings = settings(parts)
        let unknown = RoomID("!unknown:example.org")
        await #expect(throws: ChatError.invalidName) { try await settings.rename(room, to: " ") }
        await #expect(throws: ChatError.topicTooLong(limit: ChatLimits.topicLength)) {
            try await settings.setTopic(String(repeating: "a", count: ChatLimits.topicLength + 1), of: room)
        }
        await #expect(throws: ChatError.invalidDisplayName) { try await settings.setDisplayName("") }
        await #expect(throws: ChatError.notFound) { try await settings.rename(unknown, to: "New") }
        await #expect(throws: ChatError.notFound) { try await settings.setTopic("About", of: unknown) }
        #expect(transport.requests.isEmpty)
        await parts.store.close()
    }

    @Test("The user's new name is published, also in open rooms")
    func displayName() async throws {
        let parts = try await AccountParts.make(FakeTransport(200).client)
        var names = parts.writer.ownNames.names().makeAsyncIterator()
        var updates = await parts.open()
        _ = await updates.next()
        try await settings(parts).setDisplayName("Robin")
        #expect(await names.next() == "Robin")
        guard case .membersChanged(let changed)? = await updates.next() else {
            Issue.record("not published")
            return
        }
        #expect(changed.map(\.displayName) == ["Robin"] && changed.map(\.id) == [AccountParts.own])
        #expect(try await parts.store.member(AccountParts.own, of: room)?.displayName == "Robin")
        await parts.store.close()
    }
}
