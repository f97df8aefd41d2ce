public import ChatCore
public import ChatStore
public import Foundation

/// Conversations that live on this computer: one's own notes, rooms, and the built-in guide.
///
/// What changes something is carried out one call after another, in the order of the calls, and is told to the
/// observers once it is stored.
public actor LocalBackend: ChatService {
    /// The user, in each room.
    public static let ownUserID = MemberID("own")
    /// The built-in guide.
    public static let guideID = MemberID("guide")

    let store: ChatStore
    /// The files of messages and drafts.
    let media: MediaArchive
    let translator: Translator
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let makeID: @Sendable () -> String
    var ownDisplayName: String
    let guide: Guide

    var timelines: [RoomID: Observers<TimelineUpdate>] = [:]
    var summaries = SummaryFeed()
    /// What the guide is about, in each room that it is in.
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
        // Beside the store, whose folder is its own.
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

    /// Begins, or goes on, over a store: makes the first rooms if it never had any, and lets the guide answer what
    /// was left unanswered.
    ///
    /// - Parameters:
    ///   - store: for this backend alone.
    ///   - ownDisplayName: what the user is called from now on.
    ///   - translator: the language of what the guide says and of the first rooms' names.
    ///   - clock: paces the guide.
    ///   - now: the time of day, for what is stored.
    ///   - makeID: an identifier that was never used, for rooms and messages.
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

    /// Ends all streams and the guide's work, once the calls under way are done. The store stays open.
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
        // A name that the user chose stays, whatever the computer calls its user.
        if let chosen = try await store.setting(Self.displayNameSetting) { ownDisplayName = chosen }
        let first = FirstRooms(backend: self)
        _ = try await store.createRooms(first.rooms, once: "local.firstRooms")
        _ = try await store.renameMember(Self.ownUserID, to: ownDisplayName)
        for room in try await store.rooms(with: Self.guideID) { try await welcomeBack(to: room) }
        let unfinished = (try? await store.stagedRooms()) ?? []
        sweeping = Task(priority: .background) { [weak self] in
            // A million messages take a while to remove: those of this start are known before any other begins.
            await self?.discardImport(unfinished)
            await self?.sweepMedia()
        }
    }

    /// Carries out one operation at a time, first come first served, across its suspensions: what observers are
    /// told is thereby in the order of the commits, and a stream that opens misses none.
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

    /// Tells the observers of a room.
    func publish(_ update: TimelineUpdate, in room: RoomID) {
        timelines[room]?.yield(update)
    }
}
