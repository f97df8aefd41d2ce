public import ChatCore
public import ChatStore
import Foundation

/// The Matrix accounts of the user: which there are, what is kept of each, and how it stands.
///
/// Which there are is in the application's store, what signs them in is in a ``CredentialStore``, and each has a store of
/// its own. What is kept of an account is there with or without a network, a keyring or a session.
public actor MatrixAccounts: AccountService {
    /// The backend's name in ``Account/kind``.
    public static let kind = "matrix"

    /// Of an account whose secret is kept until the application ends.
    static let forgottenSetting = "matrix.forgotten."

    struct Entry {
        var account: Account
        var condition = AccountCondition.connecting
        var store: ChatStore?
        var backend: MatrixBackend?
        var following: [Task<Void, Never>] = []
        /// Whether the name was asked for since the start.
        var isNamed = false
    }

    let list: ChatStore
    let folders: AccountFolders
    let keyring: any CredentialStore
    let memory = MemoryCredentialStore()
    let transport: any MatrixTransport
    let translator: Translator
    let deviceName: String
    let clock: any Clock<Duration>
    var entries: [Entry] = []
    /// Sessions that were opened and not begun.
    var pending: [String: PendingSignIn] = [:]
    private var observers = Observers<[AccountState]>()
    private var isClosed = false

    /// - Parameters:
    ///   - list: the application's store, which tells what accounts there are.
    ///   - keyring: of the desktop.
    ///   - deviceName: under which the user's other programs show this one.
    public init(
        list: ChatStore, folders: AccountFolders, keyring: any CredentialStore, transport: any MatrixTransport,
        translator: Translator = .untranslated, deviceName: String,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.list = list
        self.folders = folders
        self.keyring = keyring
        self.transport = transport
        self.translator = translator
        self.deviceName = deviceName
        self.clock = clock
    }

    /// Opens what is kept of each account, and follows its server where it can be signed in.
    /// - Throws: ``ChatError`` if the accounts could not be read.
    public func start() async throws {
        for account in try await list.accounts() where account.kind == Self.kind {
            entries.append(Entry(account: account))
        }
        publishStates()
        // Each for itself: one that waits for the keyring holds up no other.
        for entry in entries {
            let id = entry.account.id
            await open(id)
            Task { await connect(id) }
        }
    }

    /// Ends all. What waits is sent after the next start.
    public func close() async {
        isClosed = true
        for entry in entries {
            entry.following.forEach { $0.cancel() }
            await entry.backend?.close()
            await entry.store?.close()
        }
        entries = []
        observers.finish()
    }

    /// What an account offers a conversation; nil while what is kept of it could not be opened.
    public func backend(of account: String) -> MatrixBackend? { entry(account)?.backend }

    // MARK: How they stand

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

    private var states: [AccountState] { entries.map { AccountState(account: $0.account, condition: $0.condition) } }

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
        switch entry.condition {
        case .locked, .broken: await connect(account)
        case .connecting, .online, .offline, .untrusted: await entry.backend?.reconnect()
        case .signedOut: break
        }
    }

    // MARK: Beginning

    /// Shows what is kept, without a session.
    func open(_ id: String) async {
        guard let account = entry(id)?.account, let server = URL(string: account.server) else {
            return update(id) { $0.condition = .broken(reason: "the address of the server") }
        }
        do {
            let store = try await ChatStore.open(in: folders.store(of: id))
            let backend = try await MatrixBackend.start(
                over: store, server: server, ownUserID: MemberID(id), token: nil, transport: transport,
                translator: translator, clock: clock)
            update(id) { entry in
                entry.store = store
                entry.backend = backend
                entry.condition = .connecting
            }
        } catch {
            update(id) { $0.condition = .broken(reason: "\(error)") }
        }
    }

    /// Signs an account in by what is kept of its secret, and follows it.
    private func connect(_ id: String) async {
        guard entry(id)?.backend != nil else { return }
        update(id) { $0.condition = .connecting }
        do {
            guard let credential = try await storedCredential(of: id) else {
                return update(id) { $0.condition = .signedOut(isSoft: true) }
            }
            await resume(id, with: AccessToken(credential.value))
        } catch {
            let problem = error as? CredentialStoreError ?? .unavailable(reason: "\(type(of: error))")
            update(id) { $0.condition = .locked(problem) }
        }
    }

    /// Where the user asked for another place than the keyring, it is there.
    private func storedCredential(of id: String) async throws -> AccountCredential? {
        if let credential = await memory.credential(of: id) { return credential }
        if let credential = try await folders.credentialStore.credential(of: id) { return credential }
        // The user did not want it kept: no keyring is asked, which may not be there.
        if (try? await list.setting(Self.forgottenSetting + id)) == "1" { return nil }
        return try await keyring.credential(of: id)
    }

    func resume(_ id: String, with token: AccessToken) async {
        guard let backend = entry(id)?.backend else { return }
        await backend.resume(with: token)
        guard entry(id)?.following.isEmpty == true else { return }
        let (connections, names) = (backend.connectionStates(), backend.ownDisplayNameChanges())
        let following = [
            Task { [weak self] in
                for await connection in connections { await self?.handle(connection, of: id) }
            },
            // In a room one may be called otherwise: the profile decides.
            Task { [weak self] in
                for await name in names where await self?.entry(id)?.account.name != name {
                    await self?.refreshName(of: id)
                }
            },
        ]
        update(id) { $0.following = following }
    }

    /// Calls the account as its profile does: it may have been renamed here or elsewhere.
    private func refreshName(of id: String) async {
        guard let name = await entry(id)?.backend?.profileName(), entry(id)?.account.name != name else { return }
        // Where that fails the next start asks again.
        try? await list.renameAccount(id, to: name)
        update(id) { $0.account.name = name }
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
