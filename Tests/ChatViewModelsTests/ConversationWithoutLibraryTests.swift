import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

/// Rooms in a program built without encryption; with it, they are the same.
@MainActor @Suite(.timeLimit(.minutes(10))) final class ConversationWithoutLibraryTests: CoordinatorHarness {
    @Test("An encrypted room says that this version was built without encryption; another one accepts messages")
    func notice() async {
        service.encryption = { [a] in $0 == a }
        let conversation = await start()
        coordinator.environment.session.encryption = .off(.notBuilt)
        await eventually { conversation.isEncrypted }
        #expect(!conversation.acceptsMessages)
        let notice = "This version of Parlance was built without encryption: it cannot send messages in this room."
        #expect(conversation.sendingNotice(.untranslated) == notice)
        let other = await open(b)
        await waitUntilIdle()
        #expect(!other.isEncrypted && other.acceptsMessages && other.sendingNotice(.untranslated) == nil)
    }
}
