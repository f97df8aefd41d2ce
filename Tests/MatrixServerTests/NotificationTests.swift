import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Observation
import Testing

@testable import ChatViewModels
@testable import MatrixBackend

/// Notifications of one account on two devices, over a real homeserver.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct NotificationTests {
    /// The desktop of one device.
    @MainActor @Observable
    final class Desktop: RoomNotificationPresenter {
        private(set) var shown: [String: RoomNotification] = [:]
        @ObservationIgnored let accounts: AccountsCoordinator
        @ObservationIgnored private var coordinator: NotificationCoordinator?

        init(of user: MatrixUser) {
            let conversations = ConversationCoordinator(service: user.backend)
            accounts = AccountsCoordinator(local: conversations)
            accounts.detachWindow()
            conversations.start(opening: nil)
            coordinator = NotificationCoordinator(
                accounts, presenter: self, preferences: UserPreferences(), translator: .untranslated,
                isLocked: { false }, start: Date())
        }

        func show(_ notification: RoomNotification, as id: String, media: any MediaService) {
            shown[id] = notification
        }

        func withdraw(_ id: String) { shown[id] = nil }

        var bodies: [String] { shown.values.map(\.body).sorted() }
    }

    @Test("A message read on one device withdraws its notification on the other", arguments: [true, false])
    func readingOnOneDeviceWithdrawsOnTheOther(_ sliding: Bool) async throws {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: sliding)
        let room = try await ann.backend.createRoom(named: "A room")
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        _ = try await bob.backend.join(room.rawValue)
        try await bob.waitForRoom(room)
        let hello = try await bob.say("Hello", in: room)
        let again = try await ann.elsewhere(sliding: sliding)
        // Both devices have received the earlier message.
        for device in [ann, again] {
            try await device.waitForRoom(room)
            try await device.messages(in: room) { $0.last?.id == hello.id }
        }
        let (here, there) = (Desktop(of: ann), Desktop(of: again))
        for desktop in [here, there] {
            await eventually { desktop.accounts.local.rooms.state.rows.contains { $0.id == room } }
        }
        try await bob.say("At three?", in: room)
        for desktop in [here, there] {
            await eventually { desktop.bodies.contains { $0.hasSuffix("At three?") } }
        }
        let target = try #require(here.shown.values.first?.target)
        #expect(target.room == room)
        await here.accounts.markRead(target)
        for desktop in [here, there] { await eventually { desktop.shown.isEmpty } }
        // An inline reply is sent as the room's next message, and marks the room as read.
        try await bob.say("Or at four?", in: room)
        await eventually { here.bodies.count == 1 && there.bodies.count == 1 }
        let next = try #require(there.shown.values.first?.target)
        await there.accounts.send("At *four*", answering: next)
        try await bob.messages(in: room) { $0.last?.text == "At *four*" && $0.last?.sender == ann.session.user }
        for desktop in [here, there] { await eventually { desktop.shown.isEmpty } }
        for user in [ann, bob, again] { await user.close() }
    }
}
