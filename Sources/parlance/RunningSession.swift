import ChatCore
import ChatGtk
import ChatStore
import ChatViewModels
import ComposerGtk
import Foundation
import GtkKit
import Keyring
import LocalBackend
import MatrixBackend
import Observation

/// What runs as long as the program does, with or without a window: the store, the backends and the accounts.
final class RunningSession {
    let accounts: AccountsCoordinator
    let roomWindows: RoomWindowStorage
    private let store: ChatStore
    private let local: LocalBackend
    private let matrix: MatrixAccounts
    private let lastSelection: LastSelection
    private let unsentReplies: UnsentReplies
    private var selectionObserver: Task<Void, Never>?
    private var resumeMonitor: ResumeMonitor?
    private var connecting: Timeout?

    private init(
        accounts: AccountsCoordinator, store: ChatStore, local: LocalBackend, matrix: MatrixAccounts,
        lastSelection: LastSelection, roomWindows: RoomWindowStorage, unsentReplies: UnsentReplies
    ) {
        self.accounts = accounts
        self.roomWindows = roomWindows
        self.store = store
        self.local = local
        self.matrix = matrix
        self.lastSelection = lastSelection
        self.unsentReplies = unsentReplies
    }

    /// The store, and the backends over it.
    struct Backends: Sendable {
        let store: ChatStore
        let local: LocalBackend
        let matrix: MatrixAccounts

        func close() async {
            await matrix.close()
            await local.close()
            await store.close()
        }
    }

    /// Opens the store and starts the backends without the main thread, which GTK occupies while it initializes. Apply
    /// the settings first.
    /// - Parameter isRestart: whether this process has just ended a session to start another one.
    static func startBackends(
        sharing shared: SharedEnvironment, isRestart: Bool = false
    ) -> Task<Backends, any Error> {
        let (translator, privacy, preferences) = (shared.translator, shared.privacy, shared.preferences)
        let keyring = Keyring()
        return Task { @concurrent in
            let store = try ChatStore(folder: DataFolder.store)
            do {
                let local = try await LocalBackend.start(
                    over: store, ownDisplayName: userName, translator: translator,
                    sendKey: { await preferences.writing.sendKey },
                    guideImage: { Resource.composerImage.flatMap { GuideImage(png: $0) } },
                    createsFirstRooms: false)
                let matrix = MatrixAccounts(
                    list: store, folders: AccountFolders(root: DataFolder.accounts), keyring: keyring,
                    transport: CurlTransport(), translator: translator, privacy: privacy, deviceName: "Parlance",
                    isRestart: isRestart)
                do {
                    try await matrix.start(connects: false)
                } catch {
                    await local.close()
                    throw error
                }
                return Backends(store: store, local: local, matrix: matrix)
            } catch {
                await store.close()
                throw error
            }
        }
    }

    @concurrent
    static func repairStore() async throws -> StoreRepair { try ChatStore.repair(at: DataFolder.store) }

    /// Starts the accounts, without a window. Closes the backends if that fails.
    static func start(_ backends: Backends, sharing shared: SharedEnvironment) async throws -> RunningSession {
        let (store, local, matrix) = (backends.store, backends.local, backends.matrix)
        do {
            let lastSelection = await LastSelection(settings: shared.settings, store: store)
            // The process before this one has closed its store, and stores no reply any more.
            await shared.unsentReplies.load()
            try await adoptReplies(of: store, in: shared.unsentReplies)
            let environment = shared.environment(of: local, importingInto: local, canImport: true)
            let accounts = AccountsCoordinator(
                local: ConversationCoordinator(environment), service: matrix,
                welcome: local.awaitsFirstRooms ? WelcomeViewModel(service: local) : nil,
                unsentReplies: shared.unsentReplies
            ) { [weak matrix] account, session in
                guard let service = await matrix?.backend(of: account) else { return nil }
                let coordinator = ConversationCoordinator(
                    shared.environment(of: service, session: session, importingInto: local))
                coordinator.start(opening: lastSelection.room(of: account))
                return coordinator
            }
            let session = await RunningSession(
                accounts: accounts, store: store, local: local, matrix: matrix, lastSelection: lastSelection,
                roomWindows: RoomWindowStorage(settings: shared.settings, store: store),
                unsentReplies: shared.unsentReplies)
            session.startAccounts()
            return session
        } catch {
            await backends.close()
            throw error
        }
    }

    /// Moves the replies that earlier versions kept in a setting to where they are now. What cannot be written there,
    /// or is from a newer version, stays in the setting.
    private static func adoptReplies(of store: ChatStore, in replies: UnsentReplies) async throws {
        guard let stored = try await store.setting(repliesSetting), !stored.isEmpty else { return }
        let lines = stored.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let rest = await replies.adopt(lines)
        guard rest != lines else { return }
        let value = rest.allSatisfy(\.isEmpty) ? "" : rest.joined(separator: "\n")
        // If this fails, the session goes on with the replies, and tries again when it is closed.
        try? await store.setSetting(value, for: repliesSetting)
    }

    private nonisolated static let repliesSetting = "notifications.unsent-replies"

    /// Connects the accounts, which takes the time of two frames of a start. Call it once the window is drawn, or if there
    /// is none; they are connected without that if it takes long.
    func connect() {
        connecting = nil
        Task { await matrix.connect() }
        guard resumeMonitor == nil else { return }
        resumeMonitor = ResumeMonitor { [weak accounts] in
            Date.updateLocalZone()
            accounts?.reconnect()
        }
    }

    private static let connectionDelay = Duration.seconds(1)

    private func startAccounts() {
        connecting = Timeout(after: Self.connectionDelay) { [weak self] in self?.connect() }
        accounts.detachWindow()
        accounts.local.start(opening: lastSelection.room(of: AccountsCoordinator.localID))
        accounts.start(showing: lastSelection.account)
        let (accounts, lastSelection) = (accounts, lastSelection)
        selectionObserver = Task {
            for await displayed in Observations({ accounts.displayed }) {
                guard !Task.isCancelled else { return }
                if let displayed { lastSelection.note(displayed.account, displayed.room) }
            }
        }
    }

    /// Returns the repairs of accounts' histories that the user has not been told of, neither by this process nor by an
    /// earlier one.
    func unreportedRepairs() async -> [AccountRepair] {
        // What cannot be read is reported by the next start.
        guard let accounts = try? await store.accounts(), let reported = try? await reportedRepairs() else { return [] }
        let folders = AccountFolders(root: DataFolder.accounts)
        var repairs: [AccountRepair] = []
        for account in accounts {
            repairs += await AccountRepair.all(of: account.name, store: folders.store(of: account.id))
        }
        return repairs.filter { !reported.contains($0.id) }
    }

    /// Records that the user has been told of repairs. If that fails, the next start reports them again.
    func noteReported(_ repairs: [AccountRepair]) async {
        guard let reported = try? await reportedRepairs() else { return }
        let ids = reported.union(repairs.map(\.id)).sorted()
        try? await store.setSetting(ids.joined(separator: "\n"), for: Self.reportedSetting)
    }

    private func reportedRepairs() async throws -> Set<String> {
        Set((try await store.setting(Self.reportedSetting) ?? "").split(separator: "\n").map(String.init))
    }

    private nonisolated static let reportedSetting = "accounts.reported-repairs"

    /// Checks a history that was too large to be checked at startup.
    /// - Returns: the damage found, or `nil` if there is none.
    func findDamage() async -> String? {
        store.needsCheck ? await store.checkHistory() : nil
    }

    /// Frees what is kept in memory for the next reads of the stores.
    func releaseMemory() async {
        await store.releaseMemory()
        await matrix.releaseMemory()
    }

    /// Stores what is not stored yet, and releases the store.
    func close() async {
        await accounts.flushDrafts()
        selectionObserver?.cancel()
        (resumeMonitor, connecting) = (nil, nil)
        await lastSelection.flush()
        await roomWindows.flush()
        // What this session has put into drafts must not be put there again by the next one.
        try? await Self.adoptReplies(of: store, in: unsentReplies)
        await unsentReplies.flush()
        await matrix.close()
        await local.close()
        await store.close()
    }

    private nonisolated static var userName: String {
        let name = NSFullUserName()
        return name.isEmpty ? NSUserName() : name
    }
}
