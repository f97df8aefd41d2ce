public import ChatCore
import ChatOutbox
public import ChatStore
public import Foundation
import JSONReading

/// A Matrix account's ``ChatService``: a store, a sync and an outbox.
///
/// Stored history is available without a network. Sent messages are queued in the outbox before they are displayed, and
/// are displayed as local echoes until the sync returns them in the server's order.
public actor MatrixBackend: ChatService {
    /// The state of the connection to the homeserver.
    public enum Connection: Equatable, Sendable {
        case connecting
        case online
        /// The server does not respond; the sync retries with increasing delays.
        case offline
        /// The server's certificate is not trusted, so nothing is sent. The sync retries with increasing delays.
        case untrusted(CertificateProblem)
        /// The server has ended the session. If `isSoft`, signing in again with the same device resumes it.
        case signedOut(isSoft: Bool)
    }

    public nonisolated let ownUserID: MemberID
    let store: ChatStore
    let client: MatrixClient
    let translator: Translator
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let outbox: Outbox
    /// Media that are to be sent, or may be.
    let media: MediaArchive
    /// The cache of downloaded media.
    let fetched: MediaCache
    let fetches = MediaFetches()
    /// The directory of incomplete downloads.
    let fetchFolder: URL
    private var sweeping: Task<Void, Never>?

    var timelines: [RoomID: Observers<TimelineUpdate>] = [:]
    /// The members of observed rooms, with the names that observers have.
    var names: [RoomID: MemberNames] = [:]
    var summaries = SummaryFeed()
    var localEchoes: LocalEchoes
    var changes = PendingChanges()
    var pushRules = PushRules.standard
    var directRooms = DirectRooms()
    var entered = EnteredRooms()
    /// The stored invitations.
    var invited: [Invitation] = []
    var invitationObservers = Observers<[Invitation]>()
    /// The number of sync requests that have begun.
    var syncs = 0
    var counter = MissingCounter()
    /// Whether read markers may be waiting to be sent.
    var hasUnsentReadMarkers = false
    /// Stored rooms that the user may have left unnoticed; `nil` if there are none.
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
        // Beside the store's folder, which is the store's alone.
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

    /// Opens the account over a store: publishes stored history, sends queued messages and starts the sync.
    ///
    /// - Parameters:
    ///   - store: A store that no other account uses.
    ///   - session: The session of a signed-in account.
    ///   - translator: Translates texts that stand for unreadable content.
    ///   - clock: The clock for delays between retries.
    /// - Throws: ``ChatError`` if the storage fails. An unreachable server is not an error.
    public static func start(
        over store: ChatStore, server: Homeserver, session: MatrixSession, transport: any MatrixTransport,
        translator: Translator = .untranslated, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> MatrixBackend {
        try await start(
            over: store, server: server.url, ownUserID: session.user, token: session.token,
            hasSlidingSync: server.hasSlidingSync, transport: transport, translator: translator, clock: clock, now: now)
    }

    /// Opens the account over a store without requesting the server's versions.
    ///
    /// - Parameter token: `nil` if the account has to sign in again: stored history is available, and queued messages
    ///   wait for ``resume(with:)``.
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

    /// Handles a token that any request found invalid; the sync's own response may take another 30 seconds.
    private func sessionEnded(isSoft: Bool) async {
        if case .signedOut = connection { return }
        syncing?.cancel()
        await setConnection(.signedOut(isSoft: isSoft))
    }

    /// Continues with another session of the same device.
    public func resume(with token: AccessToken) async {
        client.credential.token = token
        // Requests that need a current store wait for the next sync.
        syncStatus.hasCaughtUp = false
        await setConnection(.connecting)
        restart()
    }

    /// Restarts the sync at once instead of waiting for a delay or a response, as after suspend or a network change.
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

    /// Ends all streams, the sync and the outbox. Queued messages are sent after the next start. The store stays open.
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

    /// The current connection state, then each change.
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

    /// Display names that the user gets in any room. The stream buffers only the newest.
    nonisolated func ownDisplayNameChanges() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
        Task { await observeOwnDisplayNames(with: continuation) }
        return stream
    }

    private func observeOwnDisplayNames(with continuation: AsyncStream<String>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        _ = ownDisplayNames.add(continuation)
    }

    /// Returns the profile's display name, or `nil` if it has none or the request fails.
    func profileName() async -> String? { await client.displayName(of: ownUserID) }

    /// Runs operations one at a time in FIFO order, across their suspensions. Updates are thereby published in the
    /// order of the commits, and a new observer misses none.
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

    /// Publishes members whose displayed name or avatar changed to the room's observers.
    func publish(_ members: [Member], in room: RoomID) {
        guard let changed = names[room]?.update(members), !changed.isEmpty else { return }
        publish(.membersChanged(changed), in: room)
    }

    /// Publishes an update to the room's observers; messages have pending changes applied.
    func publish(_ update: TimelineUpdate, in room: RoomID) {
        guard timelines[room] != nil else { return }
        if case .changed(let messages) = update {
            timelines[room]?.yield(.changed(messages.map(displayed)))
        } else {
            timelines[room]?.yield(update)
        }
    }
}

/// Forwards deliveries from the outbox, which is created first, to the backend.
private actor Deliveries {
    typealias Receiver = @Sendable (OutboxRequest, MatrixOutboxBackend.Delivery) async -> Void
    private var receiver: Receiver?

    func set(_ receiver: @escaping Receiver) { self.receiver = receiver }

    func notify(_ request: OutboxRequest, _ delivery: MatrixOutboxBackend.Delivery) async {
        await receiver?(request, delivery)
    }
}
