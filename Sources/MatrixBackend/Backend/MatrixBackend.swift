public import ChatCore
import ChatOutbox
public import ChatStore
public import Foundation

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
    let media: MatrixMedia
    let readMarkers: ReadMarkers
    private var sweeping: Task<Void, Never>?

    var timelines: [RoomID: Observers<TimelineUpdate>] = [:]
    /// The members of observed rooms, with the names that observers have.
    var names: [RoomID: MemberNames] = [:]
    var summaries = SummaryFeed()
    var localEchoes: LocalEchoes
    var changes = PendingChanges()
    var accountData = AccountData()
    var entered = EnteredRooms()
    /// The stored invitations.
    var invited: [Invitation] = []
    var invitationObservers = Observers<[Invitation]>()
    var counter = MissingCounter()
    /// Stored rooms that the user may have left unnoticed; `nil` if there are none.
    var uncertainRooms: Set<RoomID>?
    var watches: [RoomID: Task<Void, Never>] = [:]
    var connection = Connection.connecting
    var connections = Observers<Connection>()
    var ownDisplayNames = Observers<String>()
    private(set) var isClosed = false
    private var syncLoop: SyncLoop?

    private let gate = SerialGate()

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
        let media = MatrixMedia(client: client, store: store, now: now)
        self.media = media
        readMarkers = ReadMarkers(client: client, store: store)
        let deliveries = Deliveries()
        let syncStatus = SyncStatus()
        self.syncStatus = syncStatus
        outbox = Outbox(
            storage: EarlierRequests(store: store),
            backend: MatrixOutboxBackend(
                client: client, store: store, ownUserID: ownUserID, syncStatus: syncStatus, media: media.archive,
                fetched: media.cache, now: now
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
        syncLoop = makeSyncLoop(hasSlidingSync: hasSlidingSync)
        media.removeIncomplete()
        client.credential.onRejection { [weak self] isSoft in Task { await self?.sessionEnded(isSoft: isSoft) } }
        await deliveries.set { [weak self] request, delivery in await self?.delivered(request, as: delivery) }
        accountData = try await AccountData(from: store)
        invited = try await store.invitations()
        try await recallStoredRooms()
        let rooms = Set(try await store.outboxRequests().map(\.room))
        if client.token == nil {
            connection = .signedOut(isSoft: true)
            await outbox.setOnline(false)
        }
        try await outbox.start()
        for room in rooms { observeOutbox(room) }
        if client.token != nil { await restart() }
        sweeping = Task { [media] in await media.sweep() }
    }

    /// Handles a token that any request found invalid; the sync's own response may take another 30 seconds.
    private func sessionEnded(isSoft: Bool) async {
        if case .signedOut = connection { return }
        await syncLoop?.cancel()
        await setConnection(.signedOut(isSoft: isSoft))
    }

    /// Continues with another session of the same device.
    public func resume(with token: AccessToken) async {
        client.credential.token = token
        // Requests that need a current store wait for the next sync.
        syncStatus.hasCaughtUp = false
        await setConnection(.connecting)
        await restart()
    }

    /// Restarts the sync at once instead of waiting for a delay or a response, as after suspend or a network change.
    public func reconnect() async {
        if case .signedOut = connection { return }
        syncStatus.hasCaughtUp = false
        await setConnection(.connecting)
        await restart()
    }

    private func restart() async {
        guard !isClosed else { return }
        await syncLoop?.restart()
    }

    /// Ends all streams, the sync and the outbox. Queued messages are sent after the next start. The store stays open.
    public func close() async {
        isClosed = true
        sweeping?.cancel()
        await syncLoop?.stop()
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
        try await gate.runEvenIfCanceled(operation)
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
