import ChatArchive
import ChatCore
import ChatGtk
import ChatStore
import ChatTestSupport
import ChatViewModels
import ComposerGtk
import ComposerSessions
import Foundation
import GtkKit
import GtkTestSupport
import LocalBackend
import Spelling

/// A real store and backend in a temporary folder; the guide's clock is frozen.
@MainActor
final class ChatFixture {
    let folder: TemporaryFolder
    let store: ChatStore
    let backend: LocalBackend
    let coordinator: ConversationCoordinator

    /// - Parameters:
    ///   - completion: the completion in composers; `nil` for none.
    ///   - time: the conversations' clock.
    ///   - spelling: the languages for spell checking; `nil` for no checking.
    ///   - createsFirstRooms: whether to create Notes and the guide's room.
    convenience init(
        completion: ConversationEnvironment.Completion? = nil, time: Timekeeper = .continuous,
        spelling: SpellingChoice? = nil, createsFirstRooms: Bool = true
    ) throws {
        try self.init(
            in: TemporaryFolder(), completion: completion, time: time, spelling: spelling,
            createsFirstRooms: createsFirstRooms)
    }

    /// Simulates a restart: closes `other` and reopens its folder.
    convenience init(reopening other: ChatFixture) throws {
        try other.close()
        try self.init(in: other.folder, completion: nil, time: .continuous)
    }

    private init(
        in folder: TemporaryFolder, completion: ConversationEnvironment.Completion?, time: Timekeeper,
        spelling: SpellingChoice? = nil, createsFirstRooms: Bool = true
    ) throws {
        try Resource.load()
        Resource.loadStyle()
        self.folder = folder
        let store = try ChatStore(folder: folder.url.appending(path: "store"))
        self.store = store
        backend = try finish {
            try await LocalBackend.start(
                over: store, ownDisplayName: "Robin", createsFirstRooms: createsFirstRooms, clock: ManualClock())
        }
        coordinator = ConversationCoordinator(
            ConversationEnvironment(
                service: backend, time: time,
                preferences: UserPreferences(writing: WritingPreferences(spelling: spelling)),
                spellChecker: EnchantChecker(), completion: completion,
                archive: RoomArchive(source: backend, destination: backend), canImport: true))
    }

    /// Creates a room and opens it.
    func openRoom(named name: String = "Room") throws -> Conversation {
        coordinator.start(opening: nil)
        coordinator.rooms.send(.create(name: name))
        guard
            MainLoop.pump(until: { [coordinator] in
                coordinator.rooms.state.selectedRow?.name == name
                    && coordinator.conversation?.composer.state.isReady == true
                    && coordinator.conversation?.timeline.state.isLoaded == true
            }), let conversation = coordinator.conversation
        else { throw TimedOut() }
        return conversation
    }

    func close() throws {
        try finish { [backend, store] in
            await backend.close()
            await store.close()
        }
    }
}
