public import ChatCore
import ChatOutbox
public import ChatStore
public import Foundation
import JSONReading
import MatrixCrypto

/// A Matrix account's ``ChatService``: a store, a sync and an outbox.
///
/// Stored history is available without a network. Sent messages are queued in the outbox before they are displayed, and
/// are displayed as local echoes until the sync returns them in the server's order.
///
/// The actor starts and stops the objects it consists of, which do the work of the service methods.
public actor MatrixBackend {
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
    nonisolated let store: ChatStore
    nonisolated let client: MatrixClient
    nonisolated let outbox: Outbox
    nonisolated let syncStatus: SyncStatus
    nonisolated let connection: ConnectionState
    nonisolated let media: MatrixMedia
    nonisolated let linkPreviews: LinkPreviews
    nonisolated let encryption: RoomEncryption
    nonisolated let keys: AccountEncryption
    nonisolated let sealed: SealedMessages
    nonisolated let verifier: Verifier
    nonisolated let encryptionMonitor: EncryptionMonitor
    nonisolated let identitySetup: IdentitySetup
    nonisolated let accountDevices: AccountDevices
    nonisolated let unfetched: UnfetchedMessages
    nonisolated let writer: RoomWriter
    nonisolated let timelines: MatrixTimelines
    nonisolated let reader: TimelineReader
    nonisolated let sender: MessageSender
    nonisolated let entry: RoomEntry
    nonisolated let directChats: DirectChats
    nonisolated let members: RoomMemberships
    nonisolated let settings: RoomSettings
    nonisolated let encryptionSwitch: EncryptionSwitch
    nonisolated let context: AccountContext
    nonisolated let privacy: PrivacyPreference
    nonisolated let notificationRules: NotificationRules
    nonisolated let arrivalFeed = ArrivalFeed()
    private let entered: EnteredRooms
    private let leftRooms: LeftRooms
    private let outboxObserver: OutboxObserver
    private let former: FormerAttempts
    private let unreadCounter: UnreadCounter
    private let historyCompleter: HistoryCompleter
    private let syncLoop: SyncLoop
    private let clock: any Clock<Duration>
    private let upkeepClock: any Clock<Duration>
    private var isClosed = false
    private var sweeping: Task<Void, Never>?
    private var rejections: Task<Void, Never>?
    private var opening: Task<Void, Never>?

    private init(
        store: ChatStore, client: MatrixClient, context: AccountContext, invitations: [Invitation],
        hasSlidingSync: Bool, privacy: PrivacyPreference, clock: any Clock<Duration>, upkeepClock: any Clock<Duration>
    ) {
        let (ownUserID, translator, now) = (context.ownUserID, context.translator, context.now)
        self.store = store
        self.client = client
        self.ownUserID = ownUserID
        self.context = context
        self.clock = clock
        self.upkeepClock = upkeepClock
        self.privacy = privacy
        notificationRules = NotificationRules(client: client, context: context)
        let gate = SerialGate()
        let unsent = UnsentMessages(
            ownUserID: ownUserID,
            unreadable: translator("This message was written by another version of Parlance and cannot be sent."))
        let feeds = TimelineFeeds(unsent: unsent)
        let rooms = RoomListFeed { context.muting(unsent.displayed(try await store.roomSummaries(of: $0))) }
        let syncStatus = SyncStatus()
        self.syncStatus = syncStatus
        media = MatrixMedia(client: client, store: store, now: now)
        let keys = AccountEncryption(
            user: ownUserID, client: client, folder: store.folder, clock: clock, now: now)
        self.keys = keys
        encryption = RoomEncryption(
            client: client, store: store, keys: keys, syncStatus: syncStatus, gate: gate)
        linkPreviews = LinkPreviews(client: client, store: store, encryption: encryption)
        let deliveries = Deliveries(
            store: store, gate: gate, unsent: unsent, timelines: feeds, rooms: rooms, syncStatus: syncStatus)
        let former = FormerAttempts(store: store)
        self.former = former
        outbox = Outbox(
            storage: store,
            backend: MatrixOutboxBackend(
                client: client, store: store, context: context, syncStatus: syncStatus, keys: keys, media: media,
                gate: gate, former: former
            ) { request, delivery in
                await deliveries.apply(delivery, of: request)
            }, retainsAccepted: true, clock: clock, now: now)
        writer = RoomWriter(
            ownUserID: ownUserID, store: store, outbox: outbox, gate: gate, unsent: unsent, timelines: feeds,
            rooms: rooms, invitations: ValueFeed(invitations), ownNames: OwnNames())
        let readMarkers = ReadMarkers(client: client, store: store, ownUserID: ownUserID, privacy: privacy)
        let unreadMarks = UnreadMarks(client: client, store: store, ownUserID: ownUserID)
        let directRooms = DirectRoomList(client: client, context: context, store: store)
        let connection = ConnectionState(
            outbox: outbox, readMarkers: readMarkers, unreadMarks: unreadMarks, directRooms: directRooms)
        self.connection = connection
        timelines = MatrixTimelines(writer: writer, readMarkers: readMarkers, unreadMarks: unreadMarks)

        let entered = EnteredRooms(status: syncStatus)
        self.entered = entered
        entry = RoomEntry(
            client: client, context: context, writer: writer, entered: entered, directRooms: directRooms, keys: keys)
        directChats = DirectChats(
            client: client, store: store, ownUserID: ownUserID, list: directRooms, invitations: writer.invitations,
            entry: entry, keys: keys, privacy: privacy)
        let sealer = RoomSealer(keys: keys, client: client, ownUserID: ownUserID, syncStatus: syncStatus)
        let verifier = Verifier(
            keys: keys, directChats: directChats,
            sender: VerificationSender(
                keys: keys, client: client, encryption: encryption, sealer: sealer, clock: clock, now: now), now: now)
        self.verifier = verifier

        // Verification events can arrive in any way, also in the history of a direct chat that was just joined.
        let opener = EventOpener(keys: keys, store: store) { await verifier.received($1, in: $0) }
        let parser = HistoryParser(opener: opener, context: context, store: store)
        let sealed = SealedMessages(keys: keys, parser: parser, writer: writer)
        self.sealed = sealed
        unfetched = UnfetchedMessages(client: client, store: store, sealed: sealed, clock: clock)
        let filler = GapFiller(client: client, context: context, writer: writer, parser: parser)
        let targets = TargetLoader(client: client, store: store, entered: entered, filler: filler)
        reader = TimelineReader(
            ownUserID: ownUserID,
            fetcher: MessageFetcher(client: client, context: context, opener: EventOpener(keys: keys, store: store)),
            clock: clock, store: store, unsent: unsent, filler: filler, targets: targets,
            isOnline: { connection.current == .online })
        let unreadCounter = UnreadCounter(store: store, clock: clock) { _ = try await filler.fill($0, in: $1) }
        self.unreadCounter = unreadCounter
        let historyCompleter = HistoryCompleter(
            store: store, filler: filler, status: syncStatus, clock: clock)
        self.historyCompleter = historyCompleter
        let missingEchoes = MissingEchoes(store: store, unsent: unsent) { try await filler.fill($0, in: $1).earliest }

        let held = HeldMessages(outbox: outbox) { [store] room in
            keys.observing(nil) { try await keys.trust(of: room, by: $0, in: store) }
        }
        outboxObserver = OutboxObserver(outbox: outbox, writer: writer, held: held)
        sender = MessageSender(
            ownUserID: ownUserID, store: store, outbox: outbox, media: media, encryption: encryption,
            uploads: MediaUploads(client: client, media: media), unsent: unsent, observer: outboxObserver, rooms: rooms,
            now: now)

        let secretStorage = SecretStorage(client: client, user: ownUserID)
        let monitor = EncryptionMonitor(
            keys: keys, storage: secretStorage, sealed: sealed, verifier: verifier, arrivals: arrivalFeed,
            syncStatus: syncStatus, clock: clock, now: now)
        encryptionMonitor = monitor
        identitySetup = IdentitySetup(
            keys: keys, client: client, user: ownUserID, storage: secretStorage, monitor: monitor)
        accountDevices = AccountDevices(client: client, keys: keys, user: ownUserID)
        members = RoomMemberships(client: client, context: context, writer: writer, keys: keys)
        settings = RoomSettings(client: client, writer: writer, status: syncStatus)
        encryptionSwitch = EncryptionSwitch(client: client, keys: keys, writer: writer)
        let leftRooms = LeftRooms(client: client, context: context, writer: writer, entered: entered)
        self.leftRooms = leftRooms

        let syncWriter = SyncWriter(
            context: context, writer: writer, opener: opener, sealed: sealed, entered: entered, status: syncStatus,
            arrivals: arrivalFeed
        ) {
            await unreadCounter.restart(in: $0)
        }
        syncLoop = SyncLoop(
            client: client, store: store, clock: clock, status: syncStatus, hasSlidingSync: hasSlidingSync,
            handlers: SyncLoop.Handlers(
                advance: { step in
                    // Before the token is stored, with which the server deletes the to-device messages.
                    try await syncWriter.advance(step) { update in
                        if update.changesRecovery { await monitor.recoveryChanged() }
                        if update.ignoredUsers != nil { await historyCompleter.restart() }
                        try await keys.take(update)
                    }
                },
                cryptoPosition: { try await keys.position() },
                willStartOver: { try await leftRooms.noteStored() },
                // What is encrypted or looked up waits for a current store.
                didCatchUp: { [outbox] in await outbox.retryDelayed() },
                didApply: { isCaughtUp, number in
                    await leftRooms.noteDoubtful(entered.removeDoubtful())
                    if isCaughtUp {
                        await leftRooms.prune()
                        await unreadCounter.start()
                        await historyCompleter.start(after: number)
                    }
                    await missingEchoes.find(after: number)
                },
                report: { state in
                    // Nobody says who stops typing.
                    if state != .online { feeds.endTyping() }
                    if await connection.setFound(state) {
                        // First: the session may end again meanwhile.
                        try? await former.noteBegun()
                        await verifier.retryNow()
                    }
                }))
    }

    /// Opens the account over a store: publishes stored history, sends queued messages and starts the sync.
    ///
    /// - Parameters:
    ///   - store: A store that no other account uses.
    ///   - session: The session of a signed-in account.
    ///   - translator: Translates placeholders for unreadable content.
    ///   - privacy: What the user discloses to others; read whenever something is sent.
    ///   - clock: The clock for delays between retries.
    ///   - upkeepClock: The clock for the daily removal of unused media.
    /// - Throws: ``ChatError`` if the storage fails. An unreachable server is not an error.
    public static func start(
        over store: ChatStore, server: Homeserver, session: MatrixSession, transport: any MatrixTransport,
        translator: Translator = .untranslated, privacy: PrivacyPreference = PrivacyPreference(),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        upkeepClock: any Clock<Duration> = ContinuousClock()
    ) async throws -> MatrixBackend {
        try await start(
            over: store, server: server.url, ownUserID: session.user, token: session.token,
            hasSlidingSync: server.hasSlidingSync, transport: transport, translator: translator, privacy: privacy,
            clock: clock, now: now, upkeepClock: upkeepClock)
    }

    /// Opens the account over a store without requesting the server's versions.
    ///
    /// - Parameter token: `nil` if the account has to sign in again: stored history is available, and queued messages
    ///   wait for ``resume(with:)``.
    public static func start(
        over store: ChatStore, server: URL, ownUserID: MemberID, token: AccessToken?, hasSlidingSync: Bool = true,
        transport: any MatrixTransport, translator: Translator = .untranslated,
        privacy: PrivacyPreference = PrivacyPreference(), clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }, upkeepClock: any Clock<Duration> = ContinuousClock()
    ) async throws -> MatrixBackend {
        let context = AccountContext(
            ownUserID: ownUserID, translator: translator, data: try await AccountData(from: store), now: now)
        // Earlier versions hid nothing, and a repair may have lost the list.
        try await store.setIgnoredUsers(context.ignoredUsers, isRecent: false)
        let backend = MatrixBackend(
            store: store, client: MatrixClient(server: server, token: token, transport: transport), context: context,
            invitations: try await store.invitations(), hasSlidingSync: hasSlidingSync, privacy: privacy,
            clock: clock, upkeepClock: upkeepClock)
        do { try await backend.activate() } catch {
            // What runs already would retain it, and the store, for good.
            await backend.close()
            throw error
        }
        return backend
    }

    private func activate() async throws {
        media.removeIncomplete()
        await encryptionMonitor.start()
        try await leftRooms.recallStored()
        if keys.condition == .off(.notBuilt) { opening = Task { [sealed] in try? await sealed.noteNotBuilt() } }
        let rooms = Set(try await store.outboxRequests().map(\.room))
        if client.token == nil { await connection.set(.signedOut(isSoft: true)) }
        try await outbox.start { [store] in try await EarlierRequests(store: store).converted($0) }
        for room in rooms { outboxObserver.observe(room) }
        rejections = Task { [client, connection, syncLoop, writer, former, context] in
            // Any request may find the token invalid; the sync's own response may take another 30 seconds.
            for await rejection in client.credential.rejections {
                if case .signedOut = connection.current {
                    // The sync has found out before.
                    if rejection.token == client.token { try? await former.noteEnd(at: context.now()) }
                    continue
                }
                await syncLoop.cancel(of: rejection.token)
                await connection.end(rejection, of: client.credential)
                guard case .signedOut = connection.current else { continue }
                writer.timelines.endTyping()
                // If this fails, the session counts as ended when the next one begins.
                try? await former.noteEnd(at: context.now())
            }
        }
        if client.token != nil { await syncLoop.restart() }
        sweeping = Task { [media, upkeepClock] in await DailyUpkeep.run(on: upkeepClock) { await media.sweep() } }
    }

    /// Continues with another session of the same device.
    public func resume(with token: AccessToken) async {
        // Requests that need a current store wait for the next sync.
        syncStatus.hasCaughtUp = false
        await connection.begin(with: token, in: client.credential)
        guard !isClosed else { return }
        await keys.resume()
        guard !isClosed else { return }
        await syncLoop.restart()
    }

    /// Notes the address of the server before ``resume(with:)``: it may have moved since the session before.
    nonisolated func move(to server: URL) { client.credential.move(to: server) }

    /// Opens the keys of the session's device, before ``resume(with:)``. Without them, the account works as in a
    /// program built without encryption.
    /// - Parameter credential: The credential that encrypts the keys.
    package func openKeys(of device: String, credential: KeyCredential) async {
        guard !isClosed else { return }
        // If this fails, nothing is sent before it has succeeded.
        try? await former.note(device, at: context.now())
        let missed: Bool
        do {
            missed = try await store.setting(AccountEncryption.missedSetting) == AccountEncryption.missedMark
        } catch {
            // Catching up needlessly is harmless.
            missed = true
        }
        await keys.open(device: device, credential: credential, hasMissedSync: missed)
        guard keys.condition == .on else { return }
        // If this fails, the next start catches up once more.
        if missed, await !keys.hasUnnotedMiss { try? await store.setSetting("", for: AccountEncryption.missedSetting) }
        await attachBackup()
        await noteEncryptedRooms()
        opening?.cancel()
        // If this fails or is canceled, the next start tries again.
        opening = Task { [sealed] in try? await sealed.openKnown() }
    }

    /// Like ``openKeys(of:credential:)``, for an account whose credentials were always in the same place.
    package func openKeys(of device: String, from place: any CredentialStore) async {
        await openKeys(of: device, credential: KeyCredential(account: ownUserID.rawValue, place: place))
    }

    private func attachBackup() async {
        guard let machine = await keys.machine else { return }
        let hooks = KeyBackup.Hooks(
            sign: { try await machine.signed($0) }, isTrusted: { try await machine.trusts($0) },
            didImport: { [sealed] in try await sealed.openImported($0) })
        await keys.attach(
            KeyBackup(
                user: ownUserID, machine: machine, client: client, folder: store.folder, clock: clock, now: context.now,
                hooks: hooks))
    }

    /// Records the encrypted rooms of a history from before there were keys.
    private func noteEncryptedRooms() async {
        // On failure, the history still says so, and the next start records it.
        guard let rooms = try? await store.encryptedRooms() else { return }
        try? await keys.noteEncrypted(rooms.map { (ExactText($0.rawValue), .null) })
    }

    /// Restarts the sync at once instead of waiting for a delay or a response, as after suspend or a network change.
    public func reconnect() async {
        syncStatus.hasCaughtUp = false
        guard await connection.reconnect(), !isClosed else { return }
        await syncLoop.restart()
    }

    /// Ends all streams, the sync and the outbox. Queued messages are sent after the next start. The store stays open.
    public func close() async {
        isClosed = true
        connection.finish()
        sweeping?.cancel()
        rejections?.cancel()
        opening?.cancel()
        await syncLoop.stop()
        await unfetched.stop()
        await opening?.value
        // Before closing the keys, which it reads.
        await encryptionMonitor.stop()
        // Before closing the keys, without which each attempt to send fails at once.
        await outbox.close()
        await keys.close()
        await verifier.close()
        await unreadCounter.stop()
        await historyCompleter.stop()
        await sweeping?.value
        outboxObserver.stop()
        arrivalFeed.finish()
        context.finish()
        await writer.serialized {
            entered.removeAll()
            writer.finish()
        }
    }

    /// The current connection state, then each change.
    public nonisolated func connectionStates() -> AsyncStream<Connection> { connection.states() }

    /// Display names that the user gets in any room. The stream buffers only the newest.
    nonisolated func ownDisplayNameChanges() -> AsyncStream<String> { writer.ownNames.names() }

    /// Returns the profile's display name, or `nil` if it has none.
    func profileName() async throws -> String? { try await client.displayName(of: ownUserID) }
}
