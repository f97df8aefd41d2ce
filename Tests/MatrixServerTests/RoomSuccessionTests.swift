import ChatCore
import ChatStore
import ChatTestSupport
import ChatViewModels
import Composer
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Room upgrades, spaces, knocks and permalinks on a real homeserver.
@Suite(.timeLimit(.minutes(10)))
struct RoomSuccessionTests {
    @Test(arguments: [true, false]) func upgradedRoomLinksToItsSuccessorAndBack(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let old = try await ann.backend.createRoom(named: "Garden")
        try await ann.say("Before", in: old)
        #expect(try await ann.backend.succession(of: old) == RoomSuccession())
        // Room version 10 still has room IDs with a server name.
        let path = ["client", "v3", "rooms", old.rawValue, "upgrade"]
        // All suites share the homeserver, and an upgrade creates many events.
        let answer = try await ann.client.call(.post, path, body: ["new_version": "10"], timeout: .seconds(150))
        let new = RoomID(try #require(answer["replacement_room"]?.string))
        try await ann.messages(in: old, withEvents: true) { $0.contains { $0.event?.kind == .replaced } }
        let next = try await ann.backend.succession(of: old)
        #expect(try ChatAddress(#require(next.next))?.room?.address == new.rawValue)
        try await ann.waitForRoom(new)
        #expect(try await ann.backend.join(#require(next.next)) == new)
        try await ann.messages(in: new, withEvents: true) { $0.contains { $0.event?.kind == .continued } }
        let back = try await ann.backend.succession(of: new)
        #expect(try ChatAddress(#require(back.previous))?.room?.address == old.rawValue)
        #expect(back.next == nil)
        await ann.close()
    }

    @Test("What was being written in a room that is upgraded can be moved, with its file, and is sent in the new room")
    @MainActor func movedDraft() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let old = try await ann.backend.createRoom(named: "Garden")
        try await ann.waitForRoom(old)
        let coordinator = ConversationCoordinator(service: ann.backend)
        coordinator.start(opening: old)
        while coordinator.conversation?.composer.state.isReady != true { try await Task.sleep(for: .milliseconds(10)) }
        let conversation = try #require(coordinator.conversation)
        let composer = conversation.composer
        composer.handle(.insert("The plan", origin: .paste))
        let data = Data("beets".utf8)
        let stored = try await ann.backend.storeMedia(.data(data), named: "plan.txt", type: "text/plain") { _ in }
        composer.handle(
            .attach(Attachment(type: "text/plain", name: "plan.txt", bytes: data.count, source: stored.uri)))
        let path = ["client", "v3", "rooms", old.rawValue, "upgrade"]
        let answer = try await ann.client.call(.post, path, body: ["new_version": "10"], timeout: .seconds(150))
        let new = RoomID(try #require(answer["replacement_room"]?.string))
        while conversation.hiddenDraft?.canBeMoved != true { try await Task.sleep(for: .milliseconds(10)) }
        coordinator.open(try #require(await conversation.moveDraft()))
        while coordinator.conversation?.roomID != new { try await Task.sleep(for: .milliseconds(10)) }
        let next = try #require(coordinator.conversation)
        #expect(next.composer.document.text == "The plan" && next.acceptsMessages)
        while conversation.hiddenDraft != nil { try await Task.sleep(for: .milliseconds(10)) }
        next.composer.handle(.send)
        let sent = try await ann.messages(in: new) { $0.last?.attachments.first?.uri.hasPrefix("mxc:") == true }
        let file = try #require(sent.last?.attachments.first)
        #expect(sent.last?.text == "The plan" && file.name == "plan.txt")
        #expect(try Data(contentsOf: await ann.backend.content(of: file)) == data)
        await coordinator.flushDrafts()
        #expect(try await ann.backend.draft(in: old) == nil)
        await ann.close()
    }

    @Test(arguments: [true, false]) func spaceIsNotARoom(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let path = ["client", "v3", "createRoom"]
        let space = try await ann.client.call(
            .post, path, body: ["name": "Everything", "creation_content": ["type": "m.space"]], timeout: .seconds(150))
        let room = try await ann.backend.createRoom(named: "Garden")
        try await ann.say("Hello", in: room)
        try await ann.messages(in: room) { $0.contains { $0.text == "Hello" } }
        #expect(space["room_id"]?.string != nil)
        #expect(try await ann.store.roomSummaries().map(\.id) == [room])
        await ann.close()
    }

    @Test(arguments: [true, false]) func knockCanBeWithdrawn(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let bo = try await MatrixUser.make("bo", sliding: sliding)
        let room = try await ann.backend.createRoom(named: "Garden")
        try await ann.client.setState("m.room.join_rules", ["join_rule": "knock"], of: room)
        _ = try await bo.client.call(.post, ["client", "v3", "knock", room.rawValue], body: [:])
        for await all in bo.backend.invitations() {
            guard let knock = all.first(where: { $0.room == room }) else { continue }
            #expect(knock.isKnock && knock.inviter == nil)
            break
        }
        #expect(try await bo.store.roomSummaries().isEmpty)
        try await bo.backend.decline(room)
        for await all in bo.backend.invitations() where all.isEmpty { break }
        try await ann.messages(in: room, withEvents: true) { messages in
            messages.contains { $0.event?.kind == .knocked } && messages.last?.event?.kind == .left
        }
        await ann.close()
        await bo.close()
    }

    /// “Copy Link to Message” yields a permalink that opens the message, even if it is not stored locally.
    @Test func permalinkOpensItsMessage() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let bo = try await MatrixUser.make("bo", sliding: true)
        let room = try await ann.backend.createRoom(named: "Garden")
        try await ann.backend.invite(bo.session.user.rawValue, to: room)
        try await ann.say("The first one", in: room)
        let first = try #require(
            try await ann.messages(in: room) { $0.contains { $0.text == "The first one" } }.last?.id)
        for number in 0..<120 {
            let text: JSONValue = ["msgtype": "m.text", "body": .string("Message \(number)")]
            _ = try await ann.client.send("m.room.message", text, to: room, transaction: "t\(number)")
        }
        let link = try await ann.backend.link(to: first, in: room)
        #expect(ChatAddress(link) == .message(first, room: room.rawValue, via: ["localhost"]), "\(link)")
        _ = try await bo.backend.join(link)
        try await bo.waitForRoom(room)
        try await show(link, in: room, first, by: bo.backend)
        await ann.close()
        await bo.close()
    }

    @MainActor
    private func show(_ link: String, in room: RoomID, _ message: MessageID, by backend: MatrixBackend) async throws {
        let coordinator = ConversationCoordinator(service: backend)
        coordinator.start(opening: nil)
        coordinator.open(link)
        // The reveal effect may be sent before an observer is set, so poll the rows.
        while coordinator.conversation?.timeline.rows.message(message) == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(coordinator.conversation?.roomID == room)
        let timeline = try #require(coordinator.conversation?.timeline)
        #expect(timeline.rows.message(message)?.text == "The first one")
        await coordinator.flushDrafts()
    }
}
