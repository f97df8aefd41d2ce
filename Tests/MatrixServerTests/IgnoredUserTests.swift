import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Ignored users, whose messages a real homeserver leaves out and does not send later by itself.
@Suite(.timeLimit(.minutes(10))) struct IgnoredUserTests {
    private func setIgnored(_ users: [MatrixUser], by user: MatrixUser) async throws {
        let members = users.map { ($0.session.user.rawValue, JSONValue.object([:])) }
        try await user.client.setAccountData(
            "m.ignored_user_list", ["ignored_users": .object(Dictionary(uniqueKeysWithValues: members))],
            of: user.session.user)
    }

    private func texts(_ messages: [Message]) -> [String] { messages.map(\.text) }

    /// Ends one sync of a user after another: what was left out is stored only after later ones.
    private func sync(_ user: MatrixUser, until isDone: () async throws -> Bool) async throws {
        var number = 0
        while try await !isDone() {
            number += 1
            try await user.client.setAccountData(
                "org.example.number", ["number": .string("\(number)")], of: user.session.user)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test(arguments: [true, false]) func ignoringHidesAndTheRestIsFetchedLater(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let (bob, carl) = (
            try await MatrixUser.make("bob", sliding: true), try await MatrixUser.make("carl", sliding: true)
        )
        let room = try await ann.backend.createRoom(named: "A room")
        for user in [bob, carl] {
            try await ann.backend.invite(user.session.user.rawValue, to: room)
            _ = try await user.backend.join(room.rawValue)
            try await user.waitForRoom(room)
        }
        try await bob.say("1", in: room)
        try await carl.say("2", in: room)
        try await ann.waitForRoom(room) { $0.unreadCount == 2 && $0.lastMessage?.text == "2" }

        try await setIgnored([bob], by: ann)
        try await ann.waitForRoom(room) { $0.unreadCount == 1 }
        try await ann.messages(in: room) { texts($0) == ["2"] }
        for (number, user) in [(3, bob), (4, carl), (5, bob)] {
            _ = try await user.client.send(
                "m.room.message", ["msgtype": "m.text", "body": .string("\(number)")], to: room,
                transaction: "\(number)")
        }
        try await ann.messages(in: room) { texts($0) == ["2", "4"] }
        try await ann.waitForRoom(room) { $0.unreadCount == 2 && $0.lastMessage?.text == "4" }

        try await setIgnored([], by: ann)
        let all = ["1", "2", "3", "4", "5"]
        try await ann.messages(in: room) { texts($0) == ["1", "2", "4"] || texts($0) == all }
        try await sync(ann) { try await ann.store.incompleteRooms().isEmpty }
        try await ann.messages(in: room) { texts($0) == all }
        try await ann.waitForRoom(room) { $0.unreadCount == 5 && $0.lastMessage?.text == "5" }
        let back = try await ann.restarted()
        try await carl.say("6", in: room)
        try await back.messages(in: room) { texts($0) == all + ["6"] }
        #expect(try await back.store.integrityProblems() == [])
        for user in [back, bob, carl] { await user.close() }
    }
}
