import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import Testing

@testable import MatrixBackend

/// Unread marks across two devices of a user.
@Suite(.timeLimit(.minutes(10))) struct MarkedUnreadTests {
    @Test(arguments: [true, false]) func markIsSharedUntilTheRoomIsReadOnEitherDevice(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let room = try await ann.backend.createRoom(named: "A room")
        let message = try await ann.say("Text", in: room)
        let again = try await ann.elsewhere(sliding: sliding)
        try await again.waitForRoom(room) { !$0.isMarkedUnread }
        try await again.messages(in: room) { $0.last?.id == message.id }
        try await ann.backend.setMarkedUnread(true, in: room)
        try await again.waitForRoom(room) { $0.isMarkedUnread }
        // The read marker does not move, because everything is read already.
        try await again.backend.markRead(message.id, in: room)
        try await ann.waitForRoom(room) { !$0.isMarkedUnread }
        try await again.backend.setMarkedUnread(true, in: room)
        try await ann.waitForRoom(room) { $0.isMarkedUnread }
        let restarted = try await ann.restarted()
        try await restarted.waitForRoom(room) { $0.isMarkedUnread }
        _ = try await restarted.say("More", in: room)
        try await again.waitForRoom(room) { !$0.isMarkedUnread }
        for user in [restarted, again] { await user.close() }
    }

    @Test(arguments: [true, false]) func aNewDeviceSeesTheMark(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let room = try await ann.backend.createRoom(named: "A room")
        try await ann.say("Text", in: room)
        try await ann.backend.setMarkedUnread(true, in: room)
        while try await !ann.store.unsentUnreadMarks().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        let again = try await ann.elsewhere(sliding: sliding)
        try await again.waitForRoom(room) { $0.isMarkedUnread }
        for user in [ann, again] { await user.close() }
    }
}
