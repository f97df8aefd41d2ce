import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import MatrixBackend

/// Notification settings across two devices, and their effect through a real homeserver's push rules.
@Suite(.timeLimit(.minutes(10))) struct NotificationSettingsTests {
    private func wait(
        _ user: MatrixUser, where condition: (NotificationSettings) -> Bool
    ) async throws {
        for await settings in user.backend.notificationSettings() where condition(settings) { return }
        throw CancellationError()
    }

    @Test(arguments: [true, false]) func roomRulesAndKeywordsAreSharedAndObeyed(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        let room = try await ann.backend.createRoom(named: "A room")
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        _ = try await bob.backend.join(room.rawValue)
        let again = try await ann.elsewhere(sliding: sliding)
        for user in [ann, again] { try await user.waitForRoom(room) }
        try await again.members(of: room) { $0.contains { $0.id == bob.session.user && !$0.hasLeft } }
        for rule in [.nothing, .mentions, .all, .nothing, nil, .mentions] as [RoomNotificationRule?] {
            try await ann.backend.setNotificationRule(rule, of: room)
            try await wait(again) { $0.rooms[room] == rule }
            try await again.waitForRoom(room) { $0.isMuted == (rule == .nothing) }
        }
        try await again.backend.addKeyword(" tea ")
        try await wait(ann) { $0.keywords == ["tea"] }
        try await wait(again) { $0.keywords == ["tea"] }
        var arrivals = again.backend.arrivals().makeAsyncIterator()
        for text in ["Plain", "Some tea?"] { try await bob.say(text, in: room) }
        let arrival = try #require(await arrivals.next())
        #expect(arrival.message.text == "Some tea?" && arrival.level == .mention && !arrival.isSilent)
        try await ann.backend.removeKeyword("Tea")
        try await wait(again) { $0.keywords.isEmpty }
        await #expect(throws: ChatError.notFound) {
            try await ann.backend.setNotificationRule(.all, of: RoomID("!no:where"))
        }
        for user in [ann, bob, again] { await user.close() }
    }
}
