public import ChatCore
import ChatOutbox
public import ChatStore
public import Foundation
import JSONReading

/// The conversations of one Matrix account: kept in a store, told by a sync, sent through an outbox.
///
/// What is in the store is there at once, with or without a network. What is sent is in the outbox before it is shown,
/// and is shown as on its way until the sync brings it in the server's order.
public actor MatrixBackend: ChatService {
    /// How the account stands with its server.
    public enum Connection: Equatable, Sendable {
        case connecting
        case online
        /// Nothing answers; it is tried again, later and later.
        case offline
        /// What answers does not prove to be the server: nothing is sent to it. It is tried again, later and later.
        case untrusted(CertificateProblem)
        /// The session was ended at the server. If `isSoft`, signing in again with the same device goes on.
        case signedOut(isSoft: Bool)
    }

    public nonisolated let ownUserID: MemberID
    let store: ChatStore
    let client: MatrixClient
    let translator: Translator
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let outbox: Outbox
    /// What is on its way to the server, or may be sent.
    let media: MediaArchive
    /// What came from the server, and may be fetched again.
    let fetched: MediaCache
    let fetches = MediaFetches()
    /// Where files are fetched to before they are whole.
    let fetchFolder: URL
    private var sweeping: Task<Void, Never>?

    var timelines: [RoomID: Observers<TimelineUpdate>] = [:]
    /// Who is in the rooms that are watched, by the names that were told.
    var names: [RoomID: MemberNames] = [:]
    var summaries = SummaryFeed()
    var localEchoes: LocalEchoes
    var changes = PendingChanges()
    var pushRules = PushRules.standard
    var directRooms = DirectRooms()
    var entered = EnteredRooms()
    /// What the store has of them.
    var invited: [Invitation] = []
    var invitationObservers = Observers<[Invitation]>()
    /// Requests for what is new that have begun.
    var syncs = 0
    var counter = MissingCounter()
    /// Whether the server may not know of all that was read.
    var hasUnsentReadMarkers = false
    /// Rooms that are kept, and may have been left without a word of it; nil if there are none.
    var uncertainRooms: Set<RoomID>?
    var watches: [RoomID: Task<Void, Never>] = [:]
    var connection = Connection.connecting
    var connections = Observers<Connection>()
    var ownDisplayNames = Observers<String>()
    private(set) var isClosed = false
    private var syncing: Task<Void, Never>?
    private var hasSlidingSync = true

    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(
        store: ChatStore, client: MatrixClient, ownUserID: MemberID, translator: Translator, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.client = client
        self.ownUserID = ownUserID
        self.translator = translator
        localEchoes = LocalEchoes(
            unreadable: translator("This message is not sent: another version of Parlance wrote it. It is kept here."))
        self.clock = clock
        self.now = now
        // Beside the store, whose folder is its own.
        let beside = store.folder.deletingLastPathComponent()
        let name = store.folder.lastPathComponent
        let media = MediaArchive(folder: beside.appending(path: name + "-media", directoryHint: .isDirectory))
        self.media = media
        let fetched = MediaCache(
            folder: beside.appending(path: name + "-cache", directoryHint: .isDirectory), index: store, now: now)
        self.fetched = fetched
        fetchFolder = beside.appending(path: name + "-fetched", directoryHint: .isDirectory)
        let deliveries = Deliveries()
        let syncStatus = SyncStatus()
        self.syncStatus = syncStatus
        outbox = Outbox(
            storage: EarlierRequests(store: store),
            backend: MatrixOutboxBackend(
                client: client, store: store, ownUserID: ownUserID, syncStatus: syncStatus, media: media,
                fetched: fetched, now: now
            ) { request, delivery in
                await deliveries.notify(request, delivery)
            }, clock: clock, now: now)
        self.deliveries = deliveries
    }

    private let deliveries: Deliveries
    let syncStatus: SyncStatus

    /// Begins, or goes on, over a store: shows what is kept, sends what waits and follows the server.
    ///
    /// - Parameters:
    ///   - store: for this account alone.
    ///   - session: of an account that is signed in.
    ///   - translator: the language of what stands in place of what can't be read.
    ///   - clock: on which it waits before it tries again.
    /// - Throws: ``ChatError`` if the storage fails. A server that does not answer is no error.
    public static func start(
        over store: ChatStore, server: Homeserver, session: MatrixSession, transport: any MatrixTransport,
        translator: Translator = .untranslated, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> MatrixBackend {
        try await start(
            over: store, server: server.url, ownUserID: session.user, token: session.token,
            hasSlidingSync: server.hasSlidingSync, transport: transport, translator: translator, clock: clock, now: now)
    }

    /// Goes on over a store without having asked the server what it can do.
    ///
    /// - Parameter token: nil if the account is to be signed in again: what is kept is shown, and what is sent waits
    ///   for ``resume(with:)``.
    public static func start(
        over store: ChatStore, server: URL, ownUserID: MemberID, token: AccessToken?, hasSlidingSync: Bool = true,
        transport: any MatrixTransport, translator: Translator = .untranslated,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> MatrixBackend {
        let client = MatrixClient(server: server, token: token, transport: transport)
        let backend = MatrixBackend(
            store: store, client: client, ownUserID: ownUserID, translator: translator, clock: clock, now: now)
        try await backend.activate(hasSlidingSync: hasSlidingSync)
        return backend
    }

    private func activate(hasSlidingSync: Bool) async throws {
        self.hasSlidingSync = hasSlidingSync
        try? FileManager.default.removeItem(at: fetchFolder)
        client.credential.onRejection { [weak self] isSoft in Task { await self?.sessionEnded(isSoft: isSoft) } }
        await deliveries.set { [weak self] request, delivery in await self?.delivered(request, as: delivery) }
        if let stored = try await store.setting(PushRules.setting),
            let rules = try? JSONValue(parsing: Data(stored.utf8))
        {
            pushRules = PushRules(rules)
        }
        if let stored = try await store.setting(DirectRooms.setting) {
            directRooms = DirectRooms((try? JSONValue(parsing: Data(stored.utf8))) ?? [:])
        }
        invited = try await store.invitations()
        try await recallStoredRooms()
        let rooms = Set(try await store.outboxRequests().map(\.room))
        if client.token == nil {
            connection = .signedOut(isSoft: true)
            await outbox.setOnline(false)
        }
        try await outbox.start()
        for room in rooms { observeOutbox(room) }
        if client.token != nil { restart() }
        sweeping = Task { [weak self] in await self?.sweepMedia() }
    }

    /// Said by the answer to whatever was asked for: the sync may wait for its own for half a minute.
    private func sessionEnded(isSoft: Bool) async {
        if case .signedOut = connection { return }
        syncing?.cancel()
        await setConnection(.signedOut(isSoft: isSoft))
    }

    /// Goes on with another session of the same device.
    public func resume(with token: AccessToken) async {
        client.credential.token = token
        // What is sent from here on waits for what came meanwhile.
        syncStatus.hasCaughtUp = false
        await setConnection(.connecting)
        restart()
    }

    /// Talks to the server anew at once, whatever is waited for: the computer slept, or is in another network.
    public func reconnect() async {
        if case .signedOut = connection { return }
        syncStatus.hasCaughtUp = false
        await setConnection(.connecting)
        restart()
    }

    private func restart() {
        guard !isClosed else { return }
        syncStatus.hasCaughtUp = false
        let before = syncing
        before?.cancel()
        syncing = Task { [weak self, hasSlidingSync] in
            await before?.value
            await self?.runSync(hasSlidingSync: hasSlidingSync)
        }
    }

    /// Ends all streams, the sync and the sending. What waits is sent after the next start. The store stays open.
    public func close() async {
        isClosed = true
        syncing?.cancel()
        sweeping?.cancel()
        await syncing?.value
        await stopCounting()
        await sweeping?.value
        await outbox.close()
        for task in watches.values { task.cancel() }
        await serialized {
            entered.removeAll()
            for room in timelines.keys { timelines[room]?.finish() }
            timelines = [:]
            summaries.finish()
            invitationObservers.finish()
            connections.finish()
            ownDisplayNames.finish()
        }
    }

    /// How the account stands with its server: now, and after each change.
    public nonisolated func connectionStates() -> AsyncStream<Connection> {
        let (stream, continuation) = AsyncStream.makeStream(of: Connection.self, bufferingPolicy: .bufferingNewest(1))
        Task { await observeConnection(with: continuation) }
        return stream
    }

    private func observeConnection(with continuation: AsyncStream<Connection>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        continuation.yield(connection)
        _ = connections.add(continuation)
    }

    /// Names that the user has come to be known under, in whatever room. Only the newest waits for who follows.
    nonisolated func ownDisplayNameChanges() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
        Task { await observeOwnDisplayNames(with: continuation) }
        return stream
    }

    private func observeOwnDisplayNames(with continuation: AsyncStream<String>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        _ = ownDisplayNames.add(continuation)
    }

    /// The name of the user's profile; nil without one, or if the server does not say.
    func profileName() async -> String? { await client.displayName(of: ownUserID) }

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

    /// Tells the observers of a room who is another than before.
    func publish(_ members: [Member], in room: RoomID) {
        guard let changed = names[room]?.update(members), !changed.isEmpty else { return }
        publish(.membersChanged(changed), in: room)
    }

    /// Tells the observers of a room. Messages are told as they are with what is on its way.
    func publish(_ update: TimelineUpdate, in room: RoomID) {
        guard timelines[room] != nil else { return }
        if case .changed(let messages) = update {
            timelines[room]?.yield(.changed(messages.map(displayed)))
        } else {
            timelines[room]?.yield(update)
        }
    }
}

/// Leads from the outbox, which is made before the backend is, to the backend.
private actor Deliveries {
    typealias Receiver = @Sendable (OutboxRequest, MatrixOutboxBackend.Delivery) async -> Void
    private var receiver: Receiver?

    func set(_ receiver: @escaping Receiver) { self.receiver = receiver }

    func notify(_ request: OutboxRequest, _ delivery: MatrixOutboxBackend.Delivery) async {
        await receiver?(request, delivery)
    }
}
