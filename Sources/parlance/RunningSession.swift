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
    private let unsentReplies: UnsentReplyStorage
    private var selectionObserver: Task<Void, Never>?
    private var resumeMonitor: ResumeMonitor?
    private var connecting: Timeout?

    private init(
        accounts: AccountsCoordinator, store: ChatStore, local: LocalBackend, matrix: MatrixAccounts,
        lastSelection: LastSelection, roomWindows: RoomWindowStorage, unsentReplies: UnsentReplyStorage
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
                    guideImage: { await Resource.composerImage.flatMap { GuideImage(png: $0) } },
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
            let unsentReplies = try await UnsentReplyStorage(store)
            let environment = shared.environment(of: local, importingInto: local, canImport: true)
            let accounts = AccountsCoordinator(
                local: ConversationCoordinator(environment), service: matrix,
                welcome: local.awaitsFirstRooms ? WelcomeViewModel(service: local) : nil,
                unsentReplies: unsentReplies.replies
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
                unsentReplies: unsentReplies)
            session.startAccounts()
            return session
        } catch {
            await backends.close()
            throw error
        }
    }

    /// Connects the accounts, which takes the time of two frames of a start. Call it once the window is drawn, or if there
    /// is none; they are connected without that if it takes long.
    func connect() {
        connecting = nil
        Task { await matrix.connect() }
    }

    private static let connectionDelay = Duration.seconds(1)

    private func startAccounts() {
        connecting = Timeout(after: Self.connectionDelay) { [weak self] in self?.connect() }
        accounts.detachWindow()
        accounts.local.start(opening: lastSelection.room(of: AccountsCoordinator.localID))
        accounts.start(showing: lastSelection.account)
        resumeMonitor = ResumeMonitor { [weak accounts] in
            Date.updateLocalZone()
            accounts?.reconnect()
        }
        let (accounts, lastSelection) = (accounts, lastSelection)
        selectionObserver = Task {
            for await displayed in Observations({ accounts.displayed }) {
                guard !Task.isCancelled else { return }
                if let displayed { lastSelection.note(displayed.account, displayed.room) }
            }
        }
    }

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
