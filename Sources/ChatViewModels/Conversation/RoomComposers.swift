import ChatCore
import Composer
import ComposerSessions

/// The composers of the rooms opened so far. They stay in memory, so that undo survives switching rooms.
final class RoomComposers {
    private struct Entry {
        let composer: ComposerViewModel
        let preferences: ChangeSubscription
    }

    private let environment: ConversationEnvironment
    private let sources: (RoomID) -> [any CompletionSource]
    private let onCommand: (ChatCommand, RoomID) async throws -> Void
    private let onOutput: (ComposerViewModel.Output, RoomID) -> Void
    private var entries: [RoomID: Entry] = [:]
    private var inUse: MediaInUse.Registration?

    /// - Parameters:
    ///   - sources: returns what answers the completion queries of a room.
    ///   - onCommand: performs a command that was entered in a room.
    init(
        _ environment: ConversationEnvironment, sources: @escaping (RoomID) -> [any CompletionSource],
        onCommand: @escaping (ChatCommand, RoomID) async throws -> Void,
        onOutput: @escaping (ComposerViewModel.Output, RoomID) -> Void
    ) {
        self.environment = environment
        self.sources = sources
        self.onCommand = onCommand
        self.onOutput = onOutput
        inUse = environment.mediaInUse.register { [weak self] in await self?.mediaURIs ?? [] }
    }

    /// What the composers hold is not to be deleted: an undo may bring it back weeks after it was sent.
    private var mediaURIs: Set<String> {
        entries.values.reduce(into: []) { $0.formUnion($1.composer.mediaURIs) }
    }

    subscript(room: RoomID) -> ComposerViewModel? { entries[room]?.composer }

    /// Returns the room's composer, which is created when the room is first opened. A draft that could not be read is
    /// read again.
    func composer(of room: RoomID) -> ComposerViewModel {
        if let entry = entries[room] {
            entry.composer.readDraftAgain()
            return entry.composer
        }
        let (composer, preferences) = (make(room), environment.preferences)
        entries[room] = Entry(
            composer: composer,
            preferences: ChangeSubscription(to: { preferences.writing }) { [weak composer] in
                composer?.send(.preferencesChanged($0))
            })
        return composer
    }

    /// Drops the composers of rooms that the user has left, and ignores what they report from now on.
    /// - Parameter onUnsent: receives the messages that were sent before and can no longer be stored, also later ones.
    func remove(_ rooms: Set<RoomID>, onUnsent: @escaping (String, RoomID) -> Void) {
        for room in rooms {
            entries.removeValue(forKey: room)?.composer.stopReporting { onUnsent($0, room) }
        }
    }

    /// Whether one of them can undo or redo.
    var canUndo: Bool { entries.values.contains { $0.composer.composer.canUndo || $0.composer.composer.canRedo } }

    /// Whether one of them is still copying a file that was attached.
    var isCopyingFiles: Bool { entries.values.contains { $0.composer.isCopyingFiles } }

    /// Whether a draft would be lost with the program, after ``flush()``.
    var hasUnstoredDraft: Bool { entries.values.contains { $0.composer.hasUnstoredDraft } }

    /// Stores all drafts; returns when they are stored.
    func flush() async {
        for entry in entries.values { await entry.composer.flushDraft() }
    }

    private func make(_ room: RoomID) -> ComposerViewModel {
        var configuration = ComposerConfiguration()
        configuration.typingPhrases = TypingPhrases(environment.translator)
        let composer = ComposerViewModel(
            roomID: room, service: environment.service, media: environment.service, configuration: configuration,
            completionSources: sources(room), inputController: environment.inputController, time: environment.time,
            commands: environment.commands, emoji: environment.emoji, spellChecker: environment.spellChecker,
            languages: environment.service,
            typingTimeout: environment.service.capabilities.contains(.typingEnds) ? .zero : .seconds(30),
            onWordAdded: { [preferences = environment.preferences] in preferences.writing.addedWords += 1 },
            onCommand: { [onCommand] in try await onCommand($0, room) },
            onOutput: { [onOutput] in onOutput($0, room) })
        composer.send(.preferencesChanged(environment.preferences.writing))
        Task { await composer.start() }
        return composer
    }
}
