import ChatCore
import Composer
import JSONReading
import Testing

@testable import ChatViewModels
@testable import MatrixBackend

/// Messages that the user sent from another client.
@Suite(.timeLimit(.minutes(10))) struct OtherClientTests {
    /// Regression: the room mention was mere text here, and saving an edit removed it.
    @Test(arguments: [true, false]) func editKeepsTheRoomMention(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let room = try await ann.backend.createRoom(named: "Room")
        try await ann.waitForRoom(room)
        let said: JSONValue = ["msgtype": "m.text", "body": "@room *hi*", "m.mentions": ["room": true]]
        let id = try await ann.client.send("m.room.message", said, to: room, transaction: "elsewhere")
        let message = try #require(try await ann.messages(in: room) { $0.contains { $0.id == id } }.last)
        let body = MessageBodies(readsPlainTexts: true).body(of: message)
        let editable = EditableMessage(message, body: body, readsPlainTexts: true)
        #expect(editable.text.mentions.map(\.target) == [.everyone])

        try await ann.backend.edit(id, in: room, to: editable.text)
        try await ann.messages(in: room) { $0.last?.pendingChange == nil && $0.last?.editedAt != nil }
        let edit = try #require(
            try await ann.client.history(of: room, before: nil, limit: 10).events.first {
                $0.content["m.relates_to"]?["rel_type"]?.string == "m.replace"
            })
        #expect(edit.content["m.new_content"]?["m.mentions"] == ["room": true])
        #expect(edit.content["m.mentions"] == [:], "nobody is notified once more")
        #expect(edit.content["m.new_content"]?["body"]?.string == "@room *hi*")
        await ann.close()
    }
}
