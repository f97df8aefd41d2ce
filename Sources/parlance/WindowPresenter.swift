import ChatGtk
import ChatViewModels
import GtkKit

/// Shows the accounts in windows, and what is to be done in the main window once there is one.
final class WindowPresenter {
    private let application: Application
    private let settings: @MainActor () -> Settings?
    private let background: @MainActor () -> BackgroundOperation
    private let withMainWindow: @MainActor (@escaping @MainActor (MainWindow) -> Void) -> Void
    private let ending: EndConfirmation
    private let report: @MainActor (ProgramLifecycle.Event) -> Void
    private var window: MainWindow?
    /// The rooms in windows of their own; `nil` until the session has its first main window.
    private var roomWindows: RoomWindows?
    /// Loads what the main window shows first.
    private var loading: Task<Void, Never>?
    /// Shows the main window once the one that is closing has closed.
    private var presentsAgain: (@MainActor () -> Void)?
    private var requests: [@MainActor (MainWindow) -> Void] = []
    private var trimming: Timeout?
    /// Whether all windows close because the program quits.
    private var isClosingAll = false

    /// - Parameters:
    ///   - withMainWindow: does something in the main window, which is shown for it.
    ///   - ending: closes the last window where the program ends with it.
    ///   - report: receives `windowClosing` and `windowClosed` of the last window.
    init(
        application: Application, settings: @escaping @MainActor () -> Settings?,
        background: @escaping @MainActor () -> BackgroundOperation,
        withMainWindow: @escaping @MainActor (@escaping @MainActor (MainWindow) -> Void) -> Void,
        ending: EndConfirmation,
        report: @escaping @MainActor (ProgramLifecycle.Event) -> Void
    ) {
        self.application = application
        self.settings = settings
        self.background = background
        self.withMainWindow = withMainWindow
        self.ending = ending
        self.report = report
    }

    /// Does something in the main window that is open, or else in the next one.
    func perform(_ request: @escaping @MainActor (MainWindow) -> Void) {
        guard let window, loading == nil, !window.isClosing else { return requests.append(request) }
        request(window)
    }

    /// Shows the main window, or brings it to the front.
    func present(_ session: RunningSession) {
        guard loading == nil else { return }
        if let window {
            guard window.isClosing else { return window.present() }
            return presentsAgain = { [weak self] in self?.present(session) }
        }
        let accounts = session.accounts
        accounts.attachWindow()
        loading = Task { [weak self] in
            // Delay the window until its content has loaded, so that no keystroke is lost on a slow disk, and assistive
            // technology does not find an empty window.
            let end = ContinuousClock.now + .seconds(1)
            await accounts.waitForSelection(within: .seconds(1))
            guard !Task.isCancelled, let window = self?.make(over: accounts) else { return }
            await accounts.waitUntilIdle(within: max(.zero, end - .now))
            if !Task.isCancelled { self?.show(window, session) }
        }
    }

    /// Closes all windows; those of rooms come back with the next session.
    func close() {
        presentsAgain = nil
        if loading != nil {
            // It was still loading: nothing was shown.
            loading?.cancel()
            loading = nil
            requests = []
        }
        guard !isEmpty else {
            report(.windowClosing)
            report(.windowClosed)
            return
        }
        isClosingAll = true
        window?.close()
        roomWindows?.closeAll()
    }

    /// Forgets the windows of a session that has none any more.
    func sessionClosing() { roomWindows = nil }

    // MARK: Closing

    private var openCount: Int {
        let isMainOpen = loading != nil || presentsAgain != nil || window?.isClosing == false
        return (isMainOpen ? 1 : 0) + (roomWindows?.openCount ?? 0)
    }
    var isEmpty: Bool { loading == nil && window == nil && roomWindows?.isEmpty != false }

    private func noteClosing() { if openCount == 0 { report(.windowClosing) } }

    private func noteClosed() {
        if let present = presentsAgain, window == nil {
            presentsAgain = nil
            return present()
        }
        // Once what the window used is gone.
        trimming = Timeout(after: .seconds(2)) { Task { await Memory.trim() } }
        guard isEmpty else { return }
        if isClosingAll {
            // They open no more windows. If something was requested meanwhile, the session goes on with another main
            // window, which restores them.
            isClosingAll = false
            roomWindows = nil
        }
        report(.windowClosed)
    }

    /// Asks once whether the program goes on without a window. Without one, it ends only once nothing would be lost, or
    /// the user agrees.
    private func mayClose(_ window: TopLevel, _ close: @escaping @MainActor () -> Void) -> Bool {
        let background = background()
        guard openCount == 1, !background.isAllowed else { return true }
        guard background.isUndecided else {
            confirmEnd(window, close)
            return false
        }
        BackgroundDialog.present(over: window) { [weak self, weak window] runs in
            background.decide(runs) { isAllowed in
                guard let self, let window else { return close() }
                guard isAllowed else { return BackgroundDialog.presentDenial(over: window) }
                if runs { close() } else { self.confirmEnd(window, close) }
            }
        }
        return false
    }

    private func confirmEnd(_ window: TopLevel, _ close: @escaping @MainActor () -> Void) {
        ending.request(close) { [weak self, weak window] question in
            guard let self, let window else { return question.withdraw() }
            // Another window may have been opened meanwhile, so that the program goes on.
            guard openCount == 1, !background().isAllowed else { return question.agree() }
            QuitDialog.present(question, over: window)
        }
    }

    // MARK: Opening

    /// Makes the main window while its rooms are loaded.
    private func make(over accounts: AccountsCoordinator) -> MainWindow {
        let window = MainWindow(application: application, accounts: accounts, settings: settings())
        self.window = window
        window.mayClose = { [weak self, weak window] in
            guard let self, let window else { return true }
            return self.mayClose(window.window) { [weak window] in window?.close() }
        }
        window.onClosing = { [weak self] in self?.noteClosing() }
        window.onClosed = { [weak self] in
            self?.window = nil
            self?.noteClosed()
        }
        return window
    }

    private func show(_ window: MainWindow, _ session: RunningSession) {
        loading = nil
        window.present()
        window.window.afterNextFrame { session.connect() }
        ClockFormat.desktop.readPortal()
        let waiting = requests
        requests = []
        for request in waiting { request(window) }
        if roomWindows == nil { openRoomWindows(of: session) }
    }

    private func openRoomWindows(of session: RunningSession) {
        let storage = session.roomWindows
        roomWindows = RoomWindows(
            application: application, accounts: session.accounts, settings: settings(), stored: storage.windows,
            outputs: RoomWindows.Outputs(
                mayClose: { [weak self] in self?.mayClose($0, $1) ?? true },
                closing: { [weak self] in self?.noteClosing() },
                closed: { [weak self] in self?.noteClosed() },
                withMainWindow: withMainWindow,
                updateMainWindow: { [weak self] in self?.window?.update() },
                restored: { [weak self] in
                    if let window = self?.window, !window.isClosing { window.present() }
                },
                store: { storage.put($0) }))
    }
}
