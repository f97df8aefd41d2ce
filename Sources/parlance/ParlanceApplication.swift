import ChatCore
import ChatGtk
import ChatStore
import ChatViewModels
import Composer
import ComposerSessions
import Foundation
import GtkKit
import Ratchets

/// The composition root: runs the session, and a window over it when one is wanted.
final class ParlanceApplication {
    static let id = "io.github.parlance_chat.Parlance"

    private let application = Application(
        id: ParlanceApplication.id, options: ParlanceApplication.options, servesWithoutToolkit: true)
    private lazy var shared = SharedEnvironment(settings: Settings(schema: Self.id))
    private lazy var background = BackgroundOperation(
        settings: shared.settings, portal: BackgroundPortal.ofSandbox(), translator: shared.translator)
    private lazy var presenter = WindowPresenter(
        application: application, settings: { [weak self] in self?.shared.settings },
        background: { [background] in background },
        withMainWindow: { [weak self] in self?.withWindow($0) },
        report: { [weak self] in self?.handle($0) })
    private var lifecycle = ProgramLifecycle()
    private var session: RunningSession?
    /// What is to be done once the session runs, with or without a window; `nil` if it could not be opened.
    private var sessionRequests: [@MainActor (RunningSession?) -> Void] = []
    /// Whether the session could not be opened, and is not being opened again.
    private var hasFailed = false
    private lazy var notifier = RoomNotifier(ApplicationNotifier.desktop(application)) { [weak self] target, text in
        self?.send(text, answering: target)
    }
    private lazy var screenLock = ScreenLock()
    private var notifications: NotificationCoordinator?
    private var search: DesktopSearch?
    private var shellSearch: ShellSearch?
    /// Started while GTK initializes, so that the rooms are available for the first frame.
    private var opening: Task<RunningSession.Backends, any Error>?
    /// Ends a session that nobody asked for a window.
    private var waiting: Timeout?
    private var releasing: Timeout?
    private var forgetting: Timeout?
    private lazy var serviceRestart = ServiceRestart(
        mayRestart: { [weak self] in await self?.mayRestart(losingUndo: $0) == true },
        restart: { [weak self] in self?.handle(.restartDue) })
    /// Whether the process is to be replaced by a service once ``run(_:)`` has returned.
    private(set) var restarts = false
    /// When the session before the next one ended, in this process or in the one before a restart: what comes after that
    /// notifies.
    private var endOfSession: Date?
    private var status: Int32 = 0

    /// - Parameter restartedAt: when the process before this one ended; `nil` if the program was started.
    init(restartedAt: Date?) {
        endOfSession = restartedAt
        application.onOptions { [weak self] in self?.handle($0) }
        application.onStartup { [weak self] in self?.startUp() }
        application.onToolkitStart { [weak self] in self?.prepareWindows() }
        application.onActivate { [weak self] in self?.requestWindow() }
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
            // Who packages it sees what it was built with.
            print(RatchetLibrary.version.map { "with \($0)" } ?? "without encryption")
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
            // One request, as from another instance.
            break
        }
        answerSearches()
        return nil
    }

    /// Does something in the window, which is shown for it.
    private func withWindow(_ request: @escaping @MainActor (MainWindow) -> Void) {
        if requestWindow() { presenter.perform(request) }
    }

    /// - Returns: `false` if there is no display. The session goes on: it may be all that receives messages.
    @discardableResult
    private func requestWindow() -> Bool {
        guard application.startToolkit() else {
            StandardError.write("cannot open a display: the window is not shown")
            return false
        }
        handle(.windowRequested)
        return true
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

    private func answerSearches() {
        shellSearch = ShellSearch(
            search: { [weak self] in
                await withCheckedContinuation { done in
                    self?.withSession { session in
                        guard let session else { return done.resume(returning: nil) }
                        // Who types a search sends a request with each letter.
                        if self?.waiting != nil { self?.awaitRequest() }
                        let search = self?.search ?? DesktopSearch(session.accounts)
                        self?.search = search
                        done.resume(returning: search)
                    }
                }
            },
            open: { [weak self] target in self?.withWindow { $0.open(.message(target)) } },
            launch: { [weak self] text in self?.withWindow { $0.switchRoom(searching: text) } })
    }

    // MARK: Lifecycle

    /// Starts what runs without a window. Nothing here may use GTK, which a service starts for its first window.
    private func startUp() {
        MainLoop.attachDispatchQueue()
        shared.followSettings()
        opening = RunningSession.startBackends(sharing: shared, isRestart: endOfSession != nil)
        addActions()
        // A window keeps the application running only while it is there; the lifecycle says when to end.
        application.hold()
        openSession()
    }

    /// Prepares GTK, which has started, for the first window.
    private func prepareWindows() {
        Resource.loadStyle()
        for key in ["color-scheme", "text-zoom"] {
            shared.settings?.onChange(of: key) { [weak self] in self?.applyAppearance() }
        }
        applyAppearance()
        KeyBindings.apply(to: application)
        // Without a window if it started for a notification's sound.
        serviceRestart.schedule()
    }

    private func handle(_ event: ProgramLifecycle.Event) {
        for command in lifecycle.handle(event, staysWithoutWindow: background.isAllowed) { perform(command) }
        if event == .sessionOpened || event == .windowClosed { releaseMemory() }
        // A request may have opened the session again instead of a restart.
        if event == .sessionOpened || event == .windowClosed, application.hasToolkit, presenter.isEmpty {
            serviceRestart.schedule()
        }
    }

    private func perform(_ command: ProgramLifecycle.Command) {
        switch command {
        case .openSession: openSession()
        case .presentWindow:
            waiting = nil
            serviceRestart.cancel()
            DispatchMonitor.setInterval(seconds: Self.monitorInterval)
            if let session { presenter.present(session) }
        case .closeWindow: presenter.close()
        case .awaitRequest: awaitRequest()
        case .closeSession: closeSession()
        case .releaseName: application.releaseName { [weak self] in self?.handle(.nameReleased) }
        case .claimName: application.claimName { [weak self] in self?.handle($0 ? .nameClaimed : .nameLost) }
        case .end: end()
        case .restart:
            restarts = true
            end()
        }
    }

    /// Ends once what the user wrote while the session was being closed is on the disk.
    private func end() {
        Task {
            await shared.unsentReplies.flush()
            application.quit()
        }
    }

    private func mayRestart(losingUndo: Bool) async -> Bool {
        guard let session, await session.accounts.mayRestart(losingUndo: losingUndo) else { return false }
        // The desktop removes some notifications with the process, and none would be withdrawn once it is read.
        return presenter.isEmpty && notifications?.isEmpty == true && !application.isInUse
    }

    /// Gives back what only the start needed, and what a session without a window does not need, once what its start or
    /// its window left has come to rest.
    private func releaseMemory() {
        // A start maps two thirds of the code, most of it because Linux maps what is around what runs.
        forgetting = Timeout(after: .milliseconds(1500)) { Task { await Memory.forgetCode() } }
        releasing = Timeout(after: .seconds(4)) { [weak self] in
            guard let self, let session else { return }
            let hasWindow = !presenter.isEmpty
            DispatchMonitor.setInterval(seconds: hasWindow ? Self.monitorInterval : 60)
            Task {
                if !hasWindow {
                    await session.releaseMemory()
                    await Memory.trim()
                }
                await Memory.forgetCode()
            }
        }
    }

    /// In seconds, with a window.
    private static let monitorInterval: UInt64 = 30

    private func awaitRequest() {
        waiting = Timeout(after: Self.requestTime) { [weak self] in self?.handle(.waitEnded) }
    }

    /// How long a session without a window waits for the request that D-Bus started it for; as GApplication does.
    private static let requestTime = Duration.seconds(10)

    private func openSession() {
        hasFailed = false
        let backends = opening ?? RunningSession.startBackends(sharing: shared, isRestart: endOfSession != nil)
        let start = endOfSession ?? Date()
        (opening, endOfSession) = (nil, nil)
        Task {
            do {
                let session = try await RunningSession.start(backends.value, sharing: shared)
                self.session = session
                notifications = NotificationCoordinator(
                    session.accounts, presenter: notifier, preferences: shared.preferences,
                    translator: shared.translator, isLocked: { [screenLock] in screenLock.isLocked },
                    start: start)
                background.follow(session.accounts)
                answerSessionRequests()
                handle(.sessionOpened)
                if presenter.isEmpty { session.connect() }
                await reportRepairs(of: session)
                if let damage = await session.findDamage() {
                    presenter.perform { DamagedStoreDialog.presentFinding(over: $0.window, reason: damage) }
                }
            } catch {
                presentFailure(error)
            }
        }
    }

    /// Says in the main window, once there is one, which accounts' histories were repaired.
    private func reportRepairs(of session: RunningSession) async {
        let repairs = await session.unreportedRepairs()
        guard !repairs.isEmpty else { return }
        presenter.perform { [weak self, weak session] window in
            // The next session reports what this one could not.
            guard let session, self?.session === session else { return }
            DamagedStoreDialog.presentRepairs(repairs, over: window.window)
            Task { await session.noteReported(repairs) }
        }
    }

    private func closeSession() {
        waiting = nil
        serviceRestart.cancel()
        presenter.sessionClosing()
        let closing = session
        (session, endOfSession) = (nil, Date())
        notifications = nil
        search = nil
        Task {
            await closing?.close()
            handle(.sessionClosed)
        }
    }

    private func presentFailure(_ error: any Error) {
        status = 1
        hasFailed = true
        answerSessionRequests()
        handle(.sessionFailed)
        guard application.startToolkit() else {
            // Nobody can be asked what to do.
            StandardError.write("cannot open the history, nor a display to say so: \(error)")
            return handle(.quitRequested)
        }
        OpeningFailurePresenter(
            application: application, repair: { [weak self] in self?.repair() },
            quit: { [weak self] in self?.handle(.quitRequested) }
        ).present(error)
    }

    private func repair() {
        Task {
            do {
                let repair = try await RunningSession.repairStore()
                status = 0
                presenter.perform {
                    DamagedStoreDialog.presentResult(
                        over: $0.window, rooms: repair.rooms, messages: repair.messages,
                        pending: repair.drafts + repair.queued, setAside: repair.setAside.path)
                }
                handle(.repaired)
            } catch {
                presentFailure(error)
            }
        }
    }

    // MARK: Actions and settings

    private func addActions() {
        application.addAction("quit") { [weak self] in self?.handle(.quitRequested) }
        application.addTextAction("open-room") { [weak self] in self?.perform("open-room", $0) }
        for action in ["new-message", "search"] {
            application.addAction(action) { [weak self] in self?.perform(action, "") }
        }
        for action in RoomNotifier.AnswerAction.allCases {
            application.addTextAction(action.rawValue) { [weak self] in
                if let target = NotificationTarget($0) { self?.answer(action, target) }
            }
        }
        application.addAction("preferences") { [weak self] in
            guard let self, let settings = self.shared.settings else { return }
            let shared = self.shared
            self.withWindow { window in
                PreferencesDialog.present(
                    settings: settings, accounts: window.accountPreferences(),
                    encryption: window.encryptionPreferences(), over: window.window,
                    spelling: shared.spellingPreferences())
            }
        }
        application.addAction("about") { [weak self] in
            self?.withWindow {
                AboutDialog.present(
                    version: parlanceVersion, encryptionLibrary: RatchetLibrary.version, over: $0.window)
            }
        }
    }

    /// Does what the user chose in a notification.
    private func answer(_ action: RoomNotifier.AnswerAction, _ target: NotificationTarget) {
        switch action {
        case .open, .reply:
            let replies = action == .reply
            if let accounts = session?.accounts, accounts.hasWindow(of: target) {
                return accounts.show(target, replies: replies)
            }
            withWindow { $0.open(replies ? .reply(target) : .message(target)) }
        case .markRead: withSession { session in Task { await session?.accounts.markRead(target) } }
        }
    }

    /// Sends a reply, which is on the disk meanwhile.
    private func send(_ text: String, answering target: NotificationTarget) {
        if let reply = shared.unsentReplies.accept(text, answering: target) { deliver(reply) }
    }

    /// A reply that comes while the store cannot be opened waits until it is repaired.
    private func deliver(_ reply: UnsentReplies.Reply) {
        guard let session else { return wait { [weak self] _ in self?.deliver(reply) } }
        Task { await session.accounts.deliver(reply) }
    }

    private func withSession(_ request: @escaping @MainActor (RunningSession?) -> Void) {
        guard session != nil || hasFailed else { return wait(request) }
        request(session)
    }

    /// Waits with a request until the session is open.
    private func wait(_ request: @escaping @MainActor (RunningSession?) -> Void) {
        sessionRequests.append(request)
        handle(.sessionRequested)
    }

    private func answerSessionRequests() {
        let requests = sessionRequests
        sessionRequests = []
        for request in requests { request(session) }
    }

    private func applyAppearance() {
        guard let settings = shared.settings else { return }
        Appearance.apply(settings.string("color-scheme"))
        TextZoom.apply(percent: settings.int("text-zoom"))
    }
}
