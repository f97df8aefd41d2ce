public import ChatCore
public import ChatStore
import Foundation
import Ratchets

/// The user's Matrix accounts, with their stores, backends and states.
///
/// The application's store lists the accounts, a ``CredentialStore`` holds their access tokens, and each account has a
/// store of its own. Stored history is readable without a network, a keyring or a session.
public actor MatrixAccounts: AccountService {
    /// The backend's name in ``Account/kind``.
    public static let kind = "matrix"

    /// Prefix of the setting that marks accounts whose credential is held in memory only.
    static let forgottenSetting = "matrix.forgotten."

    struct Entry {
        var account: Account
        var condition = AccountCondition.connecting
        var encryption = EncryptionCondition.none
        /// Where the access token was found.
        var location: CredentialLocation?
        var store: ChatStore?
        var backend: MatrixBackend?
        var following: [Task<Void, Never>] = []
        /// Whether the display name has been requested since the start, or since the account signed in again.
        var isNamed = false
        /// One request for the display name at a time: of two, the earlier could be answered last.
        let naming = SerialGate()
    }

    let list: ChatStore
    let folders: AccountFolders
    let keyring: any CredentialStore
    let memory = MemoryCredentialStore()
    let transport: any MatrixTransport
    let translator: Translator
    let privacy: PrivacyPreference
    let deviceName: String
    let clock: any Clock<Duration>
    let ongoingWork: OngoingWork
    private let isRestart: Bool
    var entries: [Entry] = []
    /// Sessions that are open on the server but not activated yet.
    var pending: [String: PendingSignIn] = [:]
    /// What still ends for accounts that were signed out. Their folders must not be used until then.
    var departures: [String: Task<Void, Never>] = [:]
    /// The accounts that are being opened.
    private var openings: [String: Task<Void, Never>] = [:]
    /// Accounts that are open and were never connected.
    private var unconnected: [String] = []
    private var observers = Observers<[AccountState]>()
    private var isClosed = false

    /// Creates the account service.
    /// - Parameters:
    ///   - list: The application's store, which lists the accounts.
    ///   - keyring: The desktop's keyring.
    ///   - privacy: What the user discloses to others.
    ///   - deviceName: The device name that the user's other clients show.
    ///   - isRestart: Whether the program has just ended to start again, so that what arrived meanwhile notifies.
    ///   - ongoingWork: Counts what an end of the program would interrupt.
    public init(
        list: ChatStore, folders: AccountFolders, keyring: any CredentialStore, transport: any MatrixTransport,
        translator: Translator = .untranslated, privacy: PrivacyPreference = PrivacyPreference(),
        deviceName: String, clock: any Clock<Duration> = ContinuousClock(), isRestart: Bool = false,
        ongoingWork: OngoingWork = .shared
    ) {
        self.list = list
        self.folders = folders
        self.keyring = keyring
        self.transport = transport
        self.translator = translator
        self.privacy = privacy
        self.deviceName = deviceName
        self.clock = clock
        self.isRestart = isRestart
        self.ongoingWork = ongoingWork
    }

    /// Opens the store of each account and connects those that have a credential.
    /// - Parameter connects: whether to connect them now; otherwise ``connect()`` does.
    /// - Throws: ``ChatError`` if the list of accounts cannot be read.
    public func start(connects: Bool = true) async throws {
        let accounts = try await list.accounts()
        // Before an account is opened: renaming must not concern a folder that a new sign-in uses. Only with the list:
        // it says which of the marked folders are not those of accounts that have remained.
        folders.setAsideSignedOut(except: accounts.map(\.id))
        Task { [folders] in await folders.removeRemains() }
        for account in accounts where account.kind == Self.kind {
            entries.append(Entry(account: account))
        }
        publishStates()
        // In separate tasks: an account that waits for the keyring must not block the others.
        for entry in entries {
            let id = entry.account.id
            await open(id)
            unconnected.append(id)
            if connects { connect() }
        }
    }

    /// Connects the accounts that were opened without.
    public func connect() {
        for id in unconnected { Task { await connect(id) } }
        unconnected = []
    }

    /// Closes all accounts. Queued messages are sent after the next start.
    public func close() async {
        isClosed = true
        // What is still being opened finds no entry, and closes itself.
        let open = entries
        entries = []
        for entry in open {
            entry.following.forEach { $0.cancel() }
            await entry.backend?.close()
            await entry.store?.close()
        }
        observers.finish()
    }

    /// Frees cached pages of the stores.
    public func releaseMemory() async {
        for entry in entries { await entry.store?.releaseMemory() }
    }

    /// Returns the backend of an account, or `nil` if its store could not be opened.
    public func backend(of account: String) -> MatrixBackend? { entry(account)?.backend }

    // MARK: States

    public nonisolated func accountStates() -> AsyncStream<[AccountState]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [AccountState].self, bufferingPolicy: .bufferingNewest(1))
        Task { await observe(with: continuation) }
        return stream
    }

    private func observe(with continuation: AsyncStream<[AccountState]>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        continuation.yield(states)
        _ = observers.add(continuation)
    }

    private var states: [AccountState] {
        entries.map { AccountState(account: $0.account, condition: $0.condition, encryption: $0.encryption) }
    }

    func publishStates() { observers.yield(states) }

    func entry(_ account: String) -> Entry? { entries.first { $0.account.id == account } }

    func update(_ account: String, _ change: (inout Entry) -> Void) {
        guard let index = entries.firstIndex(where: { $0.account.id == account }) else { return }
        let before = states
        change(&entries[index])
        if states != before { publishStates() }
    }

    public func reconnect() async {
        for entry in entries { await entry.backend?.reconnect() }
    }

    public func retry(_ account: String) async {
        guard let entry = entry(account) else { return }
        if entry.backend == nil { await open(account) }
        if entry.encryption.problem != nil { await openKeys(of: account) }
        switch entry.condition {
        case .locked, .broken: await connect(account)
        case .connecting, .online, .offline, .untrusted: await entry.backend?.reconnect()
        case .signedOut: break
        }
    }

    // MARK: Start

    /// Opens the account's store and a backend without a session, so stored history is shown.
    func open(_ id: String) async {
        if let opening = openings[id] { return await opening.value }
        let opening = Task { await openBackend(of: id) }
        openings[id] = opening
        await opening.value
        openings[id] = nil
    }

    /// Waits until the account is not being opened.
    func waitForOpening(of id: String) async { await openings[id]?.value }

    private func openBackend(of id: String) async {
        guard let account = entry(id)?.account, let server = URL(string: account.server) else {
            return update(id) { $0.condition = .broken(reason: "the address of the server") }
        }
        do {
            let store = try await openedStore(of: id)
            let backend: MatrixBackend
            do {
                backend = try await MatrixBackend.start(
                    over: store, server: server, ownUserID: MemberID(id), token: nil, transport: transport,
                    translator: translator, privacy: privacy, clock: clock)
            } catch {
                // The next attempt opens it again.
                await store.close()
                throw error
            }
            guard entry(id) != nil else {
                // The account was signed out meanwhile, or the program ends: nobody else closes these.
                await backend.close()
                await store.close()
                return
            }
            if isRestart { _ = backend.arrivalFeed.caughtUp() }
            update(id) { entry in
                entry.store = store
                entry.backend = backend
                entry.condition = .connecting
                entry.encryption = backend.keys.condition
            }
        } catch {
            update(id) { $0.condition = .broken(reason: "\(error)") }
        }
    }

    /// Opens an account's store. A damaged one is repaired, and the damaged folder is kept: most of the history comes
    /// again from the server, drafts and queued messages do not.
    private func openedStore(of id: String) async throws -> ChatStore {
        let folder = folders.store(of: id)
        do {
            return try await ChatStore.open(in: folder)
        } catch StoreOpeningError.damaged {
            // Without a position, the next sync starts over, and leaves a gap where messages may be missing.
            try await Self.repair(folder, forgetting: [SyncLoop.settings.sliding, SyncLoop.settings.plain])
            return try await ChatStore.open(in: folder)
        }
    }

    /// Away from the actor: it takes long.
    @concurrent
    private static func repair(_ folder: URL, forgetting settings: [String]) async throws {
        _ = try ChatStore.repair(at: folder, forgetting: settings)
    }

    /// Signs the account in with its stored credential and starts syncing.
    private func connect(_ id: String) async {
        guard entry(id)?.backend != nil else { return }
        // A history that was too large to be checked at opening is checked while it is in use. If that finds damage, the
        // next start repairs it.
        if let store = entry(id)?.store, store.needsCheck { Task { _ = await store.checkHistory() } }
        update(id) { $0.condition = .connecting }
        do {
            guard let credential = try await storedCredential(of: id) else {
                return update(id) { $0.condition = .signedOut(isSoft: true) }
            }
            await resume(id, with: AccessToken(credential.value.value), from: credential.location)
        } catch {
            let problem = error as? CredentialStoreError ?? .unavailable(reason: "\(type(of: error))")
            update(id) { $0.condition = .locked(problem) }
        }
    }

    /// Looks in memory and in the credential file before the keyring: the user may have chosen either.
    func storedCredential(
        of id: String
    ) async throws -> (value: AccountCredential, location: CredentialLocation)? {
        if let credential = await memory.credential(of: id) { return (credential, .memory) }
        if let credential = try await folders.credentialStore.credential(of: id) { return (credential, .file) }
        // The user chose not to store the credential: do not query the keyring, which may be absent. If the choice
        // cannot be read, the keyring is queried, but has no credential either.
        if (try? await list.setting(Self.forgottenSetting + id)) == "1" { return nil }
        return try await keyring.credential(of: id).map { ($0, .keyring) }
    }

    // MARK: Keys

    /// Returns the credential that encrypts an account's keys, stored where its token is.
    private func keyCredential(of id: String, in location: CredentialLocation) -> KeyCredential {
        let file: any CredentialStore = folders.credentialStore
        let device = entry(id)?.account.device
        let begun: String?
        do {
            begun = try KeyStore.begunDevice(in: folders.store(of: id))
        } catch {
            // It may be this device; opening the keys reports the error.
            begun = device
        }
        // Another device starts without the previous one's keys.
        let needsOthers = begun == device
        // If the user chose not to use the keyring, it may be unavailable or ask for a password.
        let earlier: [any CredentialStore] = begun == nil ? [] : [keyring]
        return switch location {
        case .memory: KeyCredential(account: id, place: memory, others: [file] + earlier, needsOthers: needsOthers)
        case .file: KeyCredential(account: id, place: file, others: [memory] + earlier, needsOthers: needsOthers)
        case .keyring: KeyCredential(account: id, place: keyring, others: [memory, file], needsOthers: needsOthers)
        }
    }

    private func openKeys(of id: String) async {
        guard let entry = entry(id), let location = entry.location, let backend = entry.backend else { return }
        await backend.openKeys(
            of: entry.account.device, credential: keyCredential(of: id, in: location))
        update(id) { $0.encryption = backend.keys.condition }
    }

    /// Returns the device to reuse when the user signs in again, or `nil` for a new one, if the server has deleted the
    /// old one's keys or they can no longer be read.
    func reusableDevice(of id: String) async -> String? {
        // A token may name no device. Then neither does the account, until the next sign-in.
        guard let entry = entry(id), !entry.account.device.isEmpty else { return nil }
        let folder = folders.store(of: id)
        // Reuse a device whose key file cannot be examined: its keys may still exist.
        guard RatchetLibrary.version != nil, (try? KeyStore.begunDevice(in: folder)) == entry.account.device else {
            return entry.account.device
        }
        if entry.condition == .signedOut(isSoft: false) || entry.encryption == .off(.replaced) { return nil }
        guard KeyStore.exists(in: folder) else { return nil }
        var places: [any CredentialStore] = [folders.credentialStore]
        if (try? await list.setting(Self.forgottenSetting + id)) != "1" { places.append(keyring) }
        let credential = KeyCredential(account: id, place: memory, others: places)
        do {
            return try await credential.first { $0 } == nil ? nil : entry.account.device
        } catch {
            // The keys may still exist.
            return entry.account.device
        }
    }

    /// Whether the keys of this device are stored.
    func hasKeys(of device: String, _ id: String) -> Bool {
        // If this cannot be read, opening the keys reports it and changes nothing.
        RatchetLibrary.version != nil && (try? KeyStore.begunDevice(in: folders.store(of: id))) == device
    }

    func resume(_ id: String, with token: AccessToken, from location: CredentialLocation) async {
        update(id) { $0.location = location }
        await openKeys(of: id)
        guard let backend = entry(id)?.backend else { return }
        await backend.resume(with: token)
        guard entry(id)?.following.isEmpty == true else { return }
        let (connections, names) = (backend.connectionStates(), backend.ownDisplayNameChanges())
        let encryption = backend.keys.conditionChanges()
        let following = [
            Task { [weak self] in
                for await condition in encryption { await self?.update(id) { $0.encryption = condition } }
            },
            Task { [weak self] in
                for await connection in connections { await self?.handle(connection, of: id) }
            },
            // The display name in a room may differ from the profile's, which is authoritative.
            Task { [weak self] in
                for await name in names where await self?.entry(id)?.account.name != name {
                    await self?.refreshName(of: id)
                }
            },
        ]
        update(id) { $0.following = following }
    }

    /// Updates the account's name from the profile, which may have changed here or in another client.
    private func refreshName(of id: String) async {
        await entry(id)?.naming.runEvenIfCanceled {
            // Without a name the account is shown by its ID.
            guard let backend = entry(id)?.backend, let name = try? await backend.profileName() ?? id else {
                // The request is repeated when the server is reached again.
                return update(id) { $0.isNamed = false }
            }
            guard entry(id)?.account.name != name else { return }
            // If storing fails, the next start requests the name again.
            try? await list.renameAccount(id, to: name)
            update(id) { $0.account.name = name }
        }
    }

    private func handle(_ connection: MatrixBackend.Connection, of id: String) {
        if connection == .online, entry(id)?.isNamed == false {
            update(id) { $0.isNamed = true }
            Task { await refreshName(of: id) }
        }
        update(id) { entry in
            entry.condition =
                switch connection {
                case .connecting: .connecting
                case .online: .online
                case .offline: .offline
                case .untrusted(let problem): .untrusted(SignInProblem.Certificate(problem))
                case .signedOut(let isSoft): .signedOut(isSoft: isSoft)
                }
        }
    }
}
