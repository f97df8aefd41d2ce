import ChatArchive
import ChatCore
import ChatGtk
import ChatStore
import ChatViewModels
import Composer
import ComposerGtk
import ComposerSessions
import Foundation
import GtkKit
import Keyring
import LocalBackend
import MatrixBackend
import Observation

/// The composition root: connects the store, backends, view models and the window.
final class ParlanceApplication {
    static let id = "io.github.parlance_chat.Parlance"

    private let application = Application(id: ParlanceApplication.id, options: ParlanceApplication.options)
    private var settings: Settings?
    private var opening: Task<Result<ChatStore, any Error>, Never>?
    private var store: ChatStore?
    private var backend: LocalBackend?
    private var matrix: MatrixAccounts?
    private var window: MainWindow?
    private lazy var emoji = makeEmoji()
    private let preferences = UserPreferences()
    private var lastSelection: LastSelection?
    /// Records which room is selected.
    private var selectionObserver: Task<Void, Never>?
    private var resumeMonitor: ResumeMonitor?
    /// What to do in the window once there is one.
    private var pendingRequest: (@MainActor (MainWindow) -> Void)?
    private var status: Int32 = 0
    /// Whether the application was activated again while the last window was closing.
    private var isReopenRequested = false

    init() {
        application.onOptions { [weak self] in self?.handle($0) }
        application.onStartup { [weak self] in self?.startUp() }
        application.onActivate { [weak self] in self?.activate() }
        application.onOpen { [weak self] address in self?.withWindow { $0.open(.address(address)) } }
    }

    /// - Returns: The exit status.
    func run(_ arguments: [String]) -> Int32 {
        let result = application.run(arguments)
        return status != 0 ? status : result
    }

    // MARK: Command line

    private static let options = [
        CommandLineOption("version", description: translated("Print the version and exit")),
        CommandLineOption(
            "room", description: translated("Open the room with this name or address"), argument: translated("ROOM")),
        CommandLineOption("new-message", description: translated("Start a direct chat")),
        CommandLineOption("search", description: translated("Search messages")),
        CommandLineOption("quit", description: translated("Quit the running instance")),
    ]

    /// - Returns: The exit status, or `nil` to continue starting.
    private func handle(_ options: CommandLineOptions) -> Int32? {
        if options.contains("version") {
            print("Parlance \(parlanceVersion)")
            return 0
        }
        if options.contains("quit") {
            if application.isRunningElsewhere { application.activateRemotely("quit") }
            return 0
        }
        for action in ["new-message", "search", "open-room"] {
            let option = action == "open-room" ? "room" : action
            guard options.contains(option) else { continue }
            if application.isRunningElsewhere {
                application.activateRemotely(action, options.text(option))
                return 0
            }
            perform(action, options.text(option) ?? "")
        }
        return nil
    }

    /// Performs an action that options and the desktop file name.
    private func perform(_ action: String, _ argument: String) {
        withWindow { window in
            switch action {
            case "open-room": window.open(OpenTarget(argument))
            case "new-message": window.startMessage()
            default: window.search()
            }
        }
    }

    // MARK: Startup

    private func startUp() {
        MainLoop.attachDispatchQueue()
        // Open the store while GTK initializes, so that the rooms are available for the first frame.
        opening = Task { await Self.openStore() }
        Resource.loadStyle()
        settings = Settings(schema: Self.id)
        if settings == nil {
            logToStandardError("the settings schema \(Self.id) is not installed: preferences are not kept")
        }
        settings?.onChange(of: "color-scheme") { [weak self] in self?.applySettings() }
        settings?.onChange(of: "shake-to-clear") { [weak self] in self?.applySettings() }
        settings?.onChange(of: "send-key") { [weak self] in self?.applySettings() }
        settings?.onChange(of: "suggest-people") { [weak self] in self?.applySettings() }
        settings?.onChange(of: "emoji-skin-tone") { [weak self] in self?.applySettings() }
        applySettings()
        addActions()
        // No window keeps the application running until the store is open.
        application.hold()
        Task { await self.finishOpening() }
    }

    private func activate() {
        guard let window, !window.isClosing else {
            isReopenRequested = true
            return
        }
        window.present()
    }

    /// Presents the window and does something in it, once there is one.
    private func withWindow(_ request: @escaping @MainActor (MainWindow) -> Void) {
        guard let window, !window.isClosing else {
            pendingRequest = request
            isReopenRequested = true
            return
        }
        window.present()
        request(window)
    }

    @concurrent
    private static func openStore() async -> Result<ChatStore, any Error> {
        do { return .success(try ChatStore(folder: DataFolder.store)) } catch { return .failure(error) }
    }

    private func finishOpening() async {
        guard let result = await opening?.value else { return }
        defer { application.release() }
        switch result {
        case .success(let store): await start(with: store)
        case .failure(let error): await handleOpeningError(error)
        }
    }

    /// For imports; loaded lazily on the importing thread. Without it, the short codes of emoji stay as they are.
    private nonisolated static let emojiCatalog = try? EmojiResources.load()

    private func start(with store: ChatStore) async {
        do {
            let backend = try await LocalBackend.start(
                over: store, ownDisplayName: Self.userName, translator: Self.translator,
                sendKey: { [preferences] in await preferences.writing.sendKey },
                guideImage: { Resource.composerImage.flatMap { GuideImage(png: $0) } })
            self.store = store
            self.backend = backend
            lastSelection = await LastSelection(settings: settings, store: store)
            let local = ConversationCoordinator(environment(of: backend, importingInto: backend, canImport: true))
            let matrix = MatrixAccounts(
                list: store, folders: AccountFolders(root: DataFolder.accounts), keyring: Keyring(),
                transport: CurlTransport(), translator: Self.translator, deviceName: "Parlance")
            self.matrix = matrix
            try await matrix.start()
            await show(
                AccountsCoordinator(local: local, service: matrix) { [weak self, weak matrix] account, session in
                    guard let service = await matrix?.backend(of: account), let self else { return nil }
                    let coordinator = ConversationCoordinator(
                        self.environment(of: service, session: session, importingInto: backend))
                    coordinator.start(opening: self.lastRoom(of: account))
                    return coordinator
                })
            checkHistory()
        } catch {
            await handleOpeningError(error)
        }
    }

    /// The room to open in an account: the one that was shown last, if it was in this account.
    private func lastRoom(of account: String) -> RoomID? {
        lastSelection?.account == account ? lastSelection?.room : nil
    }

    /// - Parameter local: receives what is imported.
    private func environment(
        of backend: any ChatService & RoomArchive.Source, session: AccountSession = AccountSession(),
        importingInto local: LocalBackend, canImport: Bool = false
    ) -> ConversationEnvironment {
        let commands = CommandRegistry(capabilities: backend.capabilities, translator: Self.translator)
        let commandDirectory = CompletionDirectory { commands.index }
        return ConversationEnvironment(
            service: backend, translator: Self.translator, preferences: preferences, session: session,
            commands: commands, emoji: emoji, inputController: EmojiCodeController(library: emoji),
            completion: ConversationEnvironment.Completion(
                everyone: translated("Everyone in this room"),
                sources: [EmojiSource(library: emoji), DirectorySource(prefix: "/", directory: commandDirectory)]),
            archive: RoomArchive(
                source: backend, destination: local, emoji: { Self.emojiCatalog?.text(ofCode: $0) }),
            canImport: canImport)
    }

    private func makeEmoji() -> EmojiLibrary {
        EmojiLibrary(
            recent: settings?.string("recent-emoji").split(separator: " ").map { String($0) } ?? [],
            load: { try EmojiResources.load() },
            onUse: { [weak self] in self?.settings?.set("recent-emoji", $0.joined(separator: " ")) })
    }

    private func show(_ accounts: AccountsCoordinator) async {
        resumeMonitor = ResumeMonitor { [weak accounts] in accounts?.reconnect() }
        let account = lastSelection?.account ?? AccountsCoordinator.localID
        accounts.local.start(opening: lastRoom(of: AccountsCoordinator.localID))
        accounts.start(showing: account)
        // Delay the window until its content has loaded, so that no keystroke is lost on a slow disk, and assistive
        // technology does not find an empty window.
        await accounts.waitUntilIdle(within: .seconds(1))
        let window = MainWindow(application: application, accounts: accounts, settings: settings)
        self.window = window
        isReopenRequested = false
        // A closed window accepts no more input, so the store can be closed.
        window.onClosed = { [weak self] in self?.closeStore() }
        observeSelection(of: accounts)
        window.present()
        ClockFormat.desktop.readPortal()
        pendingRequest?(window)
        pendingRequest = nil
    }

    private func observeSelection(of accounts: AccountsCoordinator) {
        let lastSelection = lastSelection
        selectionObserver = Task {
            for await displayed in Observations({ accounts.displayed }) {
                guard !Task.isCancelled else { return }
                if let displayed { lastSelection?.note(displayed.account, displayed.room) }
            }
        }
    }

    // MARK: Shutdown

    private func closeStore() {
        guard let store else { return }
        selectionObserver?.cancel()
        self.store = nil
        window = nil
        resumeMonitor = nil
        application.hold()
        let lastSelection = lastSelection
        Task {
            await lastSelection?.flush()
            await matrix?.close()
            await backend?.close()
            await store.close()
            guard isReopenRequested else { return application.release() }
            opening = Task { await Self.openStore() }
            await finishOpening()
        }
    }

    /// Logs the error and shows a dialog, with a choice if the store is damaged.
    private func handleOpeningError(_ error: any Error) async {
        let folder = DataFolder.store.path
        switch error as? StoreOpeningError {
        case .unwritable(let path)?: end(.unwritableFolder(path), "cannot write to \(path)")
        case .diskFull(let path)?: end(.diskFull(path), "no space left for \(path)")
        case .busy?: end(.folderInUse(folder), "another process uses \(folder)")
        case .newerSchema(let found, let supported)?:
            let formats = "(format \(found), this one knows \(supported))"
            end(.newerVersion(folder), "\(folder) was written by a newer Parlance \(formats)")
        case .damaged(_, let reason)?: presentDamagedStoreDialog(reason)
        case nil: end(.other(reason: "\(error)"), "\(error)")
        }
    }

    private func end(_ failure: StartFailure, _ line: String) {
        logToStandardError(line)
        status = 1
        application.hold()
        StartFailureDialog.present(application: application, failure) { [weak self] in self?.application.quit() }
    }

    private func logToStandardError(_ line: String) {
        FileHandle.standardError.write(Data("parlance: \(line)\n".utf8))
    }

    private func presentDamagedStoreDialog(_ reason: String) {
        application.hold()
        DamagedStoreDialog.present(
            application: application, reason: reason, folder: DataFolder.store.path,
            repair: { [weak self] in self?.repair() },
            quit: { [weak self] in
                self?.status = 1
                self?.application.quit()
            })
    }

    private func repair() {
        Task {
            do {
                let repair = try await Self.repairStore()
                opening = Task { await Self.openStore() }
                await finishOpening()
                guard let window else { return }
                DamagedStoreDialog.presentResult(
                    over: window.window, rooms: repair.rooms, messages: repair.messages,
                    pending: repair.drafts + repair.queued, setAside: repair.setAside.path)
            } catch {
                await handleOpeningError(error)
            }
        }
    }

    @concurrent
    private static func repairStore() async throws -> StoreRepair {
        try ChatStore.repair(at: DataFolder.store)
    }

    /// Checks in the background a history that was too large to be checked at startup.
    private func checkHistory() {
        guard let store, store.needsCheck else { return }
        Task { [weak self] in
            guard let problem = await store.checkHistory(), let window = self?.window else { return }
            DamagedStoreDialog.presentFinding(over: window.window, reason: problem)
        }
    }

    // MARK: Actions and settings

    private func addActions() {
        application.addAction("quit") { [weak self] in
            guard let self else { return }
            if let window = self.window { window.close() } else { self.application.quit() }
        }
        application.addTextAction("open-room") { [weak self] in self?.perform("open-room", $0) }
        for action in ["new-message", "search"] {
            application.addAction(action) { [weak self] in self?.perform(action, "") }
        }
        application.addAction("preferences") { [weak self] in
            guard let self, let settings = self.settings else { return }
            PreferencesDialog.present(settings: settings, over: self.window?.window)
        }
        application.addAction("about") { [weak self] in
            AboutDialog.present(version: parlanceVersion, over: self?.window?.window)
        }
        for (action, keys) in Self.keys { application.setKeys(keys, for: action) }
    }

    private static let keys: [(action: String, keys: [String])] = [
        ("app.quit", ["<Control>q"]), ("app.preferences", ["<Control>comma"]),
        ("win.show-help-overlay", ["<Control>question", "<Control>slash"]),
        ("win.close", ["<Control>w"]), ("win.new-room", ["<Control>n"]),
        ("win.next-room", ["<Alt>Down", "<Control>Page_Down"]),
        ("win.previous-room", ["<Alt>Up", "<Control>Page_Up"]),
        ("win.next-unread-room", ["<Alt><Shift>Down", "<Control><Shift>Page_Down"]),
        ("win.previous-unread-room", ["<Alt><Shift>Up", "<Control><Shift>Page_Up"]),
        ("win.add-files", ["<Control>o"]),
        ("win.zoom-in", ["<Control>plus", "<Control>equal", "<Control>KP_Add"]),
        ("win.zoom-out", ["<Control>minus", "<Control>KP_Subtract"]),
        ("win.zoom-reset", ["<Control>0", "<Control>KP_0"]),
        ("win.find", ["<Control>f"]), ("win.find-older", ["<Control>g"]), ("win.find-newer", ["<Control><Shift>g"]),
        ("win.search", ["<Control><Shift>f"]),
        ("win.jump-to-date", ["<Control>j"]),
        ("win.retry-unsent", ["<Control><Shift>r"]),
        ("win.discard-unsent", ["<Alt><Shift>Delete"]),
        ("win.room-details", ["<Alt>Return"]), ("win.next-region", ["F6"]), ("win.previous-region", ["<Shift>F6"]),
    ]

    private func applySettings() {
        guard let settings else { return }
        Appearance.apply(settings.string("color-scheme"))
        emoji.tone = SkinTone(rawValue: settings.int("emoji-skin-tone")) ?? .none
        TextZoom.apply(percent: settings.int("text-zoom"))
        preferences.writing = WritingPreferences(
            sendKey: settings.string("send-key") == "ctrl-return" ? .ctrlReturn : .return,
            suggestsMembers: settings.bool("suggest-people"), clearsByShaking: settings.bool("shake-to-clear"))
    }

    private static let translator = Translator(translate: translate, plural: plural)
    private static let translate: @Sendable (String) -> String = { translated($0) }
    private static let plural: @Sendable (String, String, Int) -> String = { translatedPlural($0, $1, count: $2) }

    private static var userName: String {
        let name = NSFullUserName()
        return name.isEmpty ? NSUserName() : name
    }
}
