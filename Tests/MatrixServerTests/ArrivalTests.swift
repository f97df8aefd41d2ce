import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// The levels of arriving messages, according to a real homeserver's push rules.
@Suite(.timeLimit(.minutes(5))) struct ArrivalTests {
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
}
