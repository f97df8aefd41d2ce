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
        id: ParlanceApplication.id, options: ParlanceApplication.options, servesWithoutToolkit: true,
        loadsResources: false)
    private lazy var shared = SharedEnvironment(settings: Settings(schema: Self.id))
    private lazy var background = BackgroundOperation(
        settings: shared.settings, portal: BackgroundPortal.ofSandbox(), translator: shared.translator)
    private lazy var presenter = WindowPresenter(
        application: application, settings: { [weak self] in self?.shared.settings },
        background: { [background] in background },
        withMainWindow: { [weak self] in self?.withWindow($0) },
        ending: ending,
        report: { [weak self] in self?.handle($0) })
    private lazy var ending = EndConfirmation { [weak self] in
        await self?.session?.accounts.obstacleToEnding(within: .seconds(5), waitsForWork: $0)
    }
    private var lifecycle = ProgramLifecycle()
    private lazy var current = CurrentSession { [weak self] in self?.handle(.sessionRequested) }
    private var session: RunningSession? { current.session }
    private lazy var notifications = SessionNotifications(
        application: application, shared: shared, current: current,
        withWindow: { [weak self] in self?.withWindow($0) }, used: { [weak self] in self?.ending.cancel() })
    private var shellSearch: ShellSearch?
    /// Started while GTK initializes, so that the rooms are available for the first frame.
    private var opening: Task<RunningSession.Backends, any Error>?
    /// Ends a session that nobody asked for a window.
    private var waiting: Timeout?
    private let memory = MemoryRelease()
    private lazy var serviceRestart = ServiceRestart(
        mayRestart: { [weak self] in await self?.mayRestart(losingUndo: $0) == true },
        restart: { [weak self] in self?.handle(.restartDue) })
    /// Quits from the main menu, which shows it only while closing the windows would not end the program.
    private var quitFromMenu: Action?
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
        // Launching the program again after Quit keeps it running.
        ending.cancel()
        return showWindow()
    }

    private func showWindow() -> Bool {
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
            withSession: { [weak self] request in
                self?.current.perform { session in
                    // Who types a search sends a request with each letter.
                    if session != nil, self?.waiting != nil { self?.awaitRequest() }
                    request(session)
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
        background.onChange = { [weak self] in self?.offerQuit() }
        offerQuit()
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
            memory.windowOpens()
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

    /// Quits once nothing would be lost, or the user agrees.
    private func requestQuit() {
        guard session != nil else { return handle(.quitRequested) }
        ending.request({ [weak self] in self?.handle(.quitRequested) }, asking: { [weak self] in self?.ask($0) })
    }

    /// Asks in the main window, which is shown for it.
    private func ask(_ question: EndQuestion) {
        guard showWindow() else {
            StandardError.write("cannot open a display: quitting loses what could not be stored")
            return question.agree()
        }
        presenter.perform { [weak self, weak session] window in
            // Another session has lost nothing yet.
            guard let session, self?.session === session else { return question.withdraw() }
            QuitDialog.present(question, over: window.window)
        }
    }

    /// Ends once what the user wrote while the session was being closed, or has chosen, is on the disk.
    private func end() {
        Task {
            await background.flush()
            await shared.unsentReplies.flush()
            application.quit()
        }
    }

    private func mayRestart(losingUndo: Bool) async -> Bool {
        guard let session, await session.accounts.mayRestart(losingUndo: losingUndo) else { return false }
        // The desktop removes some notifications with the process, and none would be withdrawn once it is read.
        return presenter.isEmpty && notifications.isEmpty && !application.isInUse
    }

    /// Gives back what only the start needed, and what a session without a window does not need.
    private func releaseMemory() {
        memory.schedule(
            for: { [weak self] in self?.session }, hasWindow: { [weak self] in self?.presenter.isEmpty == false })
    }

    private func awaitRequest() {
        waiting = Timeout(after: Self.requestTime) { [weak self] in self?.handle(.waitEnded) }
    }

    /// How long a session without a window waits for the request that D-Bus started it for; as GApplication does.
    private static let requestTime = Duration.seconds(10)

    private func openSession() {
        current.noteOpening()
        let backends = opening ?? RunningSession.startBackends(sharing: shared, isRestart: endOfSession != nil)
        let start = endOfSession ?? Date()
        (opening, endOfSession) = (nil, nil)
        Task {
            do {
                let session = try await RunningSession.start(backends.value, sharing: shared)
                current.noteOpened(session)
                notifications.follow(session, from: start)
                background.follow(session.accounts)
                current.performRequests()
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
        current.noteClosing()
        endOfSession = Date()
        notifications.noteClosing()
        shellSearch?.noteClosing()
        Task {
            await closing?.close()
            handle(.sessionClosed)
        }
    }

    private func presentFailure(_ error: any Error) {
        status = 1
        current.noteFailure()
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
        application.addAction("quit") { [weak self] in self?.requestQuit() }
        quitFromMenu = application.addAction("quit-from-menu") { [weak self] in self?.requestQuit() }
        application.addTextAction("open-room") { [weak self] in self?.perform("open-room", $0) }
        for action in ["new-message", "search"] {
            application.addAction(action) { [weak self] in self?.perform(action, "") }
        }
        notifications.addActions()
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

    private func offerQuit() { quitFromMenu?.isEnabled = background.isAllowed }

    private func applyAppearance() {
        guard let settings = shared.settings else { return }
        Appearance.apply(settings.string("color-scheme"))
        TextZoom.apply(percent: settings.int("text-zoom"))
    }
}
