import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import MatrixBackend

/// What other users learn about a user's activity.
@Suite(.timeLimit(.minutes(10))) struct PrivacyTests {
    @Test(arguments: [true, false]) func privateReceiptsReachOwnDevicesAlone(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        let room = try await ann.backend.createRoom(named: "A room")
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        _ = try await bob.backend.join(room.rawValue)
        let again = try await ann.elsewhere(sliding: sliding)
        let first = try await bob.say("1", in: room)
        try await again.waitForRoom(room) { $0.unreadCount == 1 }
        try await ann.messages(in: room) { $0.last?.id == first.id }
        ann.privacy.current.sharesReadReceipts = false
        try await ann.backend.markRead(first.id, in: room)
        try await again.waitForRoom(room) { $0.unreadCount == 0 }
        // The next receipt is public: when the other user receives it, they have received everything before it.
        let second = try await bob.say("2", in: room)
        try await ann.messages(in: room) { $0.last?.id == second.id }
        var seen: [MessageID] = []
        ann.privacy.current.sharesReadReceipts = true
        try await ann.backend.markRead(second.id, in: room)
        try await bob.messages(in: room) { messages in
            seen += messages.filter { message in
                message.readReceipts.contains { $0.member == ann.session.user }
            }.map(\.id)
            return seen.contains(second.id)
        }
        #expect(!seen.contains(first.id))
        for user in [ann, bob, again] { await user.close() }
    }

    @Test func typingIsNotSentIfTheUserDoesNotShareIt() async throws {
        let ann = try await MatrixUser.make("ann", sliding: false)
        let bob = try await MatrixUser.make("bob", sliding: false)
        let room = try await ann.backend.createRoom(named: "A room")
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        _ = try await bob.backend.join(room.rawValue)
        try await bob.waitForRoom(room)
        var typing: [[MemberID]] = []
        ann.privacy.current.sharesTyping = false
        await ann.backend.setTyping(true, in: room)
        let end = try await ann.say("Behind it", in: room)
        for await update in bob.backend.timeline(of: room, limit: 10) {
            if case .typing(let members) = update { typing.append(members) }
            if case .changed(let messages) = update, messages.contains(where: { $0.id == end.id }) { break }
            if case .opened(let page, _, _) = update, page.messages.contains(where: { $0.id == end.id }) { break }
        }
        #expect(typing.allSatisfy { $0.isEmpty })
        ann.privacy.current.sharesTyping = true
        // Typing is neither retried by the sender nor remembered for a timeline that opens later: keep typing.
        let typist = Task {
            while !Task.isCancelled {
                await ann.backend.setTyping(true, in: room)
                // Throws only if canceled, and then the loop ends.
                try? await Task.sleep(for: .seconds(2))
            }
        }
        for await update in bob.backend.timeline(of: room, limit: 10) {
            if case .typing([ann.session.user]) = update { break }
        }
        typist.cancel()
        for user in [ann, bob] { await user.close() }
    }
}
