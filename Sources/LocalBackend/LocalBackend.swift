public import ChatCore
public import ChatStore
public import Foundation

/// Conversations stored on this computer: notes, rooms, and the built-in guide.
///
/// Operations that change something run one at a time, in call order, and are published once they are stored.
public actor LocalBackend: ChatService {
    /// The user's ID in every room.
    public static let ownUserID = MemberID("own")
    /// The built-in guide's ID.
    public static let guideID = MemberID("guide")

    let store: ChatStore
    /// The files attached to messages and drafts.
    let media: MediaArchive
    let translator: Translator
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let makeID: @Sendable () -> String
    var ownDisplayName: String
    let guide: Guide

    var timelines: [RoomID: Observers<TimelineUpdate>] = [:]
    var summaries = SummaryFeed()
    /// The guide's state in each room it is in.
    var conversations: [RoomID: GuideConversation] = [:]
    private(set) var isClosed = false
    private var sweeping: Task<Void, Never>?

    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(
        store: ChatStore, ownDisplayName: String, translator: Translator, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date, makeID: @escaping @Sendable () -> String
    ) {
        self.store = store
        // Next to the store's folder, which belongs to the store alone.
        media = MediaArchive(
            folder: store.folder.deletingLastPathComponent()
                .appending(path: store.folder.lastPathComponent + "-media", directoryHint: .isDirectory))
        self.ownDisplayName = ownDisplayName
        self.translator = translator
        self.clock = clock
        self.now = now
        self.makeID = makeID
        guide = Guide(translator: translator)
    }

    /// Opens a backend on a store. Creates the first rooms in a new store, and lets the guide answer unanswered
    /// messages.
    ///
    /// - Parameters:
    ///   - store: must not be shared with another backend.
    ///   - ownDisplayName: the user's name, unless they have chosen another.
    ///   - translator: translates the guide's messages and the names of the first rooms.
    ///   - clock: paces the guide.
    ///   - now: returns the wall-clock time, for timestamps.
    ///   - makeID: returns a unique identifier for a room or message.
    /// - Throws: ``ChatError`` if the storage fails.
    public static func start(
        over store: ChatStore, ownDisplayName: String, translator: Translator = .untranslated,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        makeID: @escaping @Sendable () -> String = { UUID().uuidString.lowercased() }
    ) async throws -> LocalBackend {
        let backend = LocalBackend(
            store: store, ownDisplayName: ownDisplayName, translator: translator, clock: clock, now: now, makeID: makeID
        )
        try await backend.prepare()
        return backend
    }

    /// Finishes all streams and stops the guide, after the operations in progress. The store stays open.
    public func close() async {
        isClosed = true
        sweeping?.cancel()
        for room in conversations.keys { dismissGuide(from: room) }
        await serialized {
            for room in timelines.keys { timelines[room]?.finish() }
            timelines = [:]
            summaries.finish()
        }
    }

    private func prepare() async throws {
        // A name chosen by the user takes precedence over that of the system account.
        if let chosen = try await store.setting(Self.displayNameSetting) { ownDisplayName = chosen }
        let first = FirstRooms(backend: self)
        _ = try await store.createRooms(first.rooms, once: "local.firstRooms")
        _ = try await store.renameMember(Self.ownUserID, to: ownDisplayName)
        for room in try await store.rooms(with: Self.guideID) { try await welcomeBack(to: room) }
        let unfinished = (try? await store.stagedRooms()) ?? []
        sweeping = Task(priority: .background) { [weak self] in
            // Removing a large import takes a while, so it runs in the background. The list was read before another
            // import can start, so it contains only abandoned ones.
            await self?.discardImport(unfinished)
            await self?.sweepMedia()
        }
    }

    /// Runs one operation at a time, in FIFO order and across suspension points. Updates are therefore published in
    /// commit order, and a new stream misses none.
    func serialized<T: Sendable>(_ operation: () async throws -> T) async rethrows -> T {
        if isBusy {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isBusy = true
        }
        defer {
            if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
        }
        return try await operation()
    }

    /// Sends an update to a room's observers.
    func publish(_ update: TimelineUpdate, in room: RoomID) {
        timelines[room]?.yield(update)
    }
}
