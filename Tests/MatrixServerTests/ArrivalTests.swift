import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// The levels of arriving messages, according to a real homeserver's push rules.
@Suite(.timeLimit(.minutes(10))) struct ArrivalTests {
    @Test(arguments: [true, false]) func messagesOfOthersArriveWithTheirLevel(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        let room = try await ann.backend.createRoom(named: "A room")
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        _ = try await bob.backend.join(room.rawValue)
        try await ann.members(of: room) { $0.contains { $0.id == bob.session.user && !$0.hasLeft } }
        var arrivals = ann.backend.arrivals().makeAsyncIterator()
        try await ann.say("Own", in: room)
        let texts: [(String, JSONValue)] = [
            ("Plain", [:]), ("Mention", ["user_ids": [.string(ann.session.user.rawValue)]]),
        ]
        for (text, mentions) in texts {
            _ = try await bob.client.send(
                "m.room.message", ["msgtype": "m.text", "body": .string(text), "m.mentions": mentions], to: room,
                transaction: text)
        }
        for (text, level) in [("Plain", NotificationLevel.unread), ("Mention", .mention)] {
            let arrival = try #require(await arrivals.next())
            #expect(arrival.message.text == text && arrival.level == level && !arrival.isMissed)
            #expect(arrival.message.roomID == room)
            #expect(arrival.senderName == String(bob.session.user.rawValue.dropFirst().prefix { $0 != ":" }))
        }
        for user in [ann, bob] { await user.close() }
    }

    /// With the server's default rules, in which that of mentions precedes that of edits.
    @Test(arguments: [true, false]) func editsThatMentionArrive(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        let room = try await ann.backend.createRoom(named: "A room")
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        _ = try await bob.backend.join(room.rawValue)
        // A message is counted before it arrives: the message itself has to have arrived before the edits.
        var arrivals = ann.backend.arrivals().makeAsyncIterator()
        let message = try await bob.say("Tea", in: room)
        try await ann.waitForRoom(room) { $0.unreadCount == 1 && $0.mentionCount == 0 }
        #expect(await arrivals.next()?.message.text == "Tea")
        for (text, mentions) in [("Tea?", [:]), ("Tea, Ann?", ["user_ids": [.string(ann.session.user.rawValue)]])]
            as [(String, JSONValue)]
        {
            let edit: JSONValue = [
                "msgtype": "m.text", "body": .string("* " + text), "m.mentions": mentions,
                "m.new_content": ["msgtype": "m.text", "body": .string(text), "m.mentions": mentions],
                "m.relates_to": ["rel_type": "m.replace", "event_id": .string(message.id.rawValue)],
            ]
            _ = try await bob.client.send("m.room.message", edit, to: room, transaction: text)
            try await ann.messages(in: room) { $0.last?.text == text }
        }
        let arrival = try #require(await arrivals.next())
        #expect(arrival.message.text == "Tea, Ann?" && arrival.level == .mention)
        try await ann.waitForRoom(room) { $0.unreadCount == 1 && $0.mentionCount == 1 }
        try await ann.backend.markRead(message.id, in: room)
        try await ann.waitForRoom(room) { $0.unreadCount == 0 && $0.mentionCount == 0 }
        for user in [ann, bob] { await user.close() }
    }

    /// From room version 12 on, the power levels do not name the creator, who has infinite power.
    @Test(arguments: [true, false]) func creatorOfARoomOfVersion12MentionsEveryone(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        // The client itself gives the server this time for a new room, too.
        let created = try await bob.client.call(
            .post, ["client", "v3", "createRoom"], body: ["preset": "public_chat", "room_version": "12"],
            timeout: .seconds(120))
        let room = RoomID(try #require(created["room_id"]?.string))
        #expect(try await ann.backend.join(room.rawValue) == room)
        try await ann.members(of: room) { $0.contains { $0.id == ann.session.user && !$0.hasLeft } }
        _ = try await bob.client.send(
            "m.room.message", ["msgtype": "m.text", "body": "Hello"], to: room, transaction: "hello")
        try await ann.waitForRoom(room) { $0.unreadCount == 1 && $0.mentionCount == 0 }
        var arrivals = ann.backend.arrivals().makeAsyncIterator()
        let mention: JSONValue = ["msgtype": "m.text", "body": "@room", "m.mentions": ["room": true]]
        _ = try await bob.client.send("m.room.message", mention, to: room, transaction: "everyone")
        let arrival = try #require(await arrivals.next())
        #expect(arrival.message.text == "@room" && arrival.level == .mention)
        try await ann.waitForRoom(room) { $0.unreadCount == 2 && $0.mentionCount == 1 }
        for user in [ann, bob] { await user.close() }
    }
}
