public import ChatCore
public import ChatStore
public import Composer
public import Foundation

/// Conversations stored on this computer: notes, rooms, and the built-in guide.
///
/// Operations that change something run one at a time, in call order, and are published once they are stored. The
/// actor keeps them off the caller's thread and has no state of its own beyond the objects that it consists of.
public actor LocalBackend {
    /// The user's ID in every room.
    public static let ownUserID = MemberID("own")
    /// The built-in guide's ID.
    public static let guideID = MemberID("guide")

    let store: ChatStore
    let profile: OwnProfile
    let media: LocalMedia
    let roomList: RoomListFeed
    let timelines: LocalTimelines
    let rooms: LocalRooms
    let messages: LocalMessages
    let imports: LocalImport
    private let gate: SerialGate
    private let feeds: TimelineFeeds
    let guide: GuideResponder
    /// Whether the store was new and its first rooms were left to ``createFirstRooms()``.
    public nonisolated let awaitsFirstRooms: Bool
    private let makeFirstRooms: @Sendable () async throws -> FirstRooms
    private let cleanup: Task<Void, Never>

    /// Opens a backend on a store, and lets the guide answer unanswered messages.
    ///
    /// - Parameters:
    ///   - store: must not be shared with another backend.
    ///   - ownDisplayName: the user's name, unless they have chosen another.
    ///   - translator: translates the guide's messages and the names of the first rooms.
    ///   - sendKey: returns the current send key, which the guide's messages mention.
    ///   - guideImage: returns the image of the guide's greeting; called only when the first rooms are created.
    ///   - createsFirstRooms: whether to create the first rooms of a new store now instead of in
    ///   ``createFirstRooms()``.
    ///   - clock: paces the guide.
    ///   - now: returns the wall-clock time, for timestamps.
    ///   - makeID: returns a unique identifier for a room or message.
    ///   - upkeepClock: paces the daily removal of unused files.
    /// - Throws: ``ChatError`` if the storage fails.
    public static func start(
        over store: ChatStore, ownDisplayName: String, translator: Translator = .untranslated,
        sendKey: @escaping @Sendable () async -> SendKey = { .return },
        guideImage: @escaping @Sendable () async -> GuideImage? = { nil }, createsFirstRooms: Bool = true,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        makeID: @escaping @Sendable () -> String = { UUID().uuidString.lowercased() },
        upkeepClock: any Clock<Duration> = ContinuousClock()
    ) async throws -> LocalBackend {
        let profile = try await OwnProfile(in: store, unlessChosen: ownDisplayName)
        let guide: @Sendable () async -> Guide = {
            Guide(translator: translator, keys: GuideKeys(await sendKey(), translator: translator))
        }
        let media = LocalMedia(beside: store)
        let isNew = try await store.setting(FirstRooms.setting) == nil
        _ = try await store.renameMember(ownUserID, to: profile.name)
        let backend = LocalBackend(
            store: store, profile: profile, media: media, guide: guide, translator: translator, clock: clock, now: now,
            makeID: makeID, awaitsFirstRooms: isNew && !createsFirstRooms,
            makeFirstRooms: {
                try FirstRooms(
                    own: profile.member, guide: await guide(), image: await media.store(guideImage()),
                    translator: translator, createdAt: now(), makeID: makeID)
            }, abandonedImports: await abandonedImports(in: store), upkeepClock: upkeepClock)
        do {
            if isNew && createsFirstRooms {
                try await backend.createFirstRooms()
            } else {
                try await backend.letGuideEnter()
            }
        } catch {
            await backend.close()
            throw error
        }
        return backend
    }

    /// Returns the rooms of imports that an earlier run did not finish, or none if they cannot be read: they stay
    /// invisible until a start at which they can be.
    private static func abandonedImports(in store: ChatStore) async -> [RoomID] {
        (try? await store.stagedRooms()) ?? []
    }

    private init(
        store: ChatStore, profile: OwnProfile, media: LocalMedia, guide: @escaping @Sendable () async -> Guide,
        translator: Translator, clock: any Clock<Duration>, now: @escaping @Sendable () -> Date,
        makeID: @escaping @Sendable () -> String, awaitsFirstRooms: Bool,
        makeFirstRooms: @escaping @Sendable () async throws -> FirstRooms, abandonedImports: [RoomID],
        upkeepClock: any Clock<Duration>
    ) {
        self.store = store
        self.profile = profile
        self.awaitsFirstRooms = awaitsFirstRooms
        self.makeFirstRooms = makeFirstRooms
        gate = SerialGate()
        feeds = TimelineFeeds()
        self.media = media
        roomList = RoomListFeed { try await store.roomSummaries(of: $0) }
        let writer = TimelineWriter(store: store, timelines: feeds, rooms: roomList, now: now, makeID: makeID)
        self.guide = GuideResponder(guide, gate: gate, writer: writer, clock: clock)
        timelines = LocalTimelines(store: store, gate: gate, feeds: feeds, rooms: roomList)
        rooms = LocalRooms(gate: gate, writer: writer, profile: profile, guide: self.guide, translator: translator)
        messages = LocalMessages(gate: gate, writer: writer, media: media, guide: self.guide)
        imports = LocalImport(
            store: store, gate: gate, timelines: timelines, profile: profile, translator: translator, makeID: makeID)
        cleanup = Task(priority: .background) { [imports, media] in
            // Removing a large import takes a while, so it runs in the background. The list was read before another
            // import can start, so it contains only abandoned ones.
            await imports.discard(abandonedImports)
            await DailyUpkeep.run(on: upkeepClock) { await media.sweep(knownBy: store, at: now()) }
        }
    }

    // The upkeep would otherwise keep the store of a backend that was never closed.
    deinit { cleanup.cancel() }

    /// Creates the notes and the guide's room, once per store.
    public func createFirstRooms() async throws {
        guard try await store.setting(FirstRooms.setting) == nil else { return }
        let first = try await makeFirstRooms()
        try await gate.run {
            guard try await store.createRooms(first.rooms, once: FirstRooms.setting) else { return }
            try await letGuideEnter()
            roomList.refresh()
        }
    }

    private func letGuideEnter() async throws {
        for room in try await store.rooms(with: Self.guideID) { try await guide.enter(room) }
    }

    /// Finishes all streams and stops the guide, after the operations in progress. The store stays open.
    public func close() async {
        cleanup.cancel()
        await guide.close()
        await gate.runEvenIfCanceled {
            feeds.finish()
            roomList.finish()
        }
    }
}
