import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Unread counts as a real homeserver computes them.
@Suite(.timeLimit(.minutes(10))) struct UnreadTests {
    /// Creates Ann's room with Bob in it, who sends a number of messages; the first one mentions Ann.
    private func meet(_ ann: MatrixUser, _ bob: MatrixUser, messages: Int) async throws -> (RoomID, [MessageID]) {
        let room = try await ann.backend.createRoom(named: "A room")
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        _ = try await bob.backend.join(room.rawValue)
        var ids: [MessageID] = []
        for number in 1...messages {
            var content: [String: JSONValue] = ["msgtype": "m.text", "body": .string("\(number)")]
            content["m.mentions"] = number == 1 ? ["user_ids": [.string(ann.session.user.rawValue)]] : [:]
            ids.append(
                try await bob.client.send("m.room.message", .object(content), to: room, transaction: "n\(number)"))
        }
        return (room, ids)
    }

    /// Returns the server's notification and highlight counts.
    private func counted(_ user: MatrixUser, _ room: RoomID) async throws -> UnreadCount? {
        // A random timeout: Synapse caches the response to an identical sync request for two minutes.
        let wait = Duration.seconds(.random(in: 1...1_000_000))
        let update = try await PlainSync(client: user.client).next(after: nil, wait: wait)
        return update.rooms.first { $0.id == room }?.counted
    }

    /// Polls until the counts match: the server updates them asynchronously.
    private func expectCount(_ user: MatrixUser, _ room: RoomID, _ expected: UnreadCount) async throws {
        var actual = try await counted(user, room)
        for _ in 0..<100 where actual != expected {
            try await Task.sleep(for: .milliseconds(50))
            actual = try await counted(user, room)
        }
        #expect(actual == expected)
    }

    @Test(arguments: [true, false]) func unreadCountsAfterSignInMatchTheServer(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        let (some, ids) = try await meet(ann, bob, messages: 12)
        let (none, _) = try await meet(ann, bob, messages: 3)
        let (many, _) = try await meet(ann, bob, messages: 45)
        let (all, allIDs) = try await meet(ann, bob, messages: 4)
        try await ann.client.markRead(ids[1], in: some)
        try await ann.client.markRead(allIDs[3], in: all)
        let again = try await ann.elsewhere(sliding: sliding)
        for (room, unread, mentions) in [(some, 10, 0), (none, 3, 1), (many, 45, 1), (all, 0, 0)] {
            try await again.waitForRoom(room) {
                $0.unreadCount == unread && $0.mentionCount == mentions && !$0.mayHaveMoreUnread
            }
        }
        // Ann opens the room on one device; the other device gets the update.
        try await ann.waitForRoom(some) { $0.unreadCount == 10 }
        try await again.messages(in: some) { $0.last?.id == ids[11] }
        try await again.backend.markRead(ids[11], in: some)
        try await ann.waitForRoom(some) { $0.unreadCount == 0 }
        try await expectCount(again, some, UnreadCount(messages: 0, mentions: 0))
        for user in [ann, bob, again] { await user.close() }
    }

    @Test(arguments: [true, false]) func messagesReceivedOfflineAreAllCounted(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        let (room, ids) = try await meet(ann, bob, messages: 2)
        try await ann.messages(in: room) { $0.last?.id == ids[1] }
        try await ann.backend.markRead(ids[1], in: room)
        try await ann.waitForRoom(room) { $0.unreadCount == 0 }
        while try await counted(ann, room)?.messages != 0 { try await Task.sleep(for: .milliseconds(50)) }
        await ann.close()
        let mention: JSONValue = [
            "msgtype": "m.text", "body": "You?", "m.mentions": ["user_ids": [.string(ann.session.user.rawValue)]],
        ]
        for number in 1...60 {
            let content = number == 5 ? mention : ["msgtype": "m.text", "body": .string("\(number)")]
            _ = try await bob.client.send("m.room.message", content, to: room, transaction: "m\(number)")
        }
        let back = try await ann.restarted()
        try await back.waitForRoom(room) { $0.unreadCount == 60 && $0.mentionCount == 1 && !$0.mayHaveMoreUnread }
        try await expectCount(back, room, UnreadCount(messages: 60, mentions: 1))
        for user in [bob, back] { await user.close() }
    }

    /// Other clients put read markers on any event that is last.
    @Test(arguments: [true, false]) func readMarkerAtAReactionCoversTheMessageBefore(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        let (room, ids) = try await meet(ann, bob, messages: 3)
        try await ann.waitForRoom(room) { $0.unreadCount == 3 }
        let reaction = try await bob.client.send(
            "m.reaction", EventContentBuilder.reaction("👍", to: ids[0]), to: room, transaction: "r")
        try await ann.messages(in: room) { $0.first?.reactions.isEmpty == false }
        try await ann.client.markRead(reaction, in: room)
        try await ann.waitForRoom(room) { $0.unreadCount == 0 && $0.mentionCount == 0 }
        try await expectCount(ann, room, UnreadCount(messages: 0, mentions: 0))
        try await bob.messages(in: room) { $0.last?.readReceipts.map(\.member) == [ann.session.user] }
        for user in [ann, bob] { await user.close() }
    }
}
