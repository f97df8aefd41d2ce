import ChatGtk
import ChatViewModels
import GtkKit

/// Shows the accounts in a window, and what is to be done in it once there is one.
final class WindowPresenter {
    private let application: Application
    private let settings: @MainActor () -> Settings?
    private let background: @MainActor () -> BackgroundOperation
    private let report: @MainActor (ProgramLifecycle.Event) -> Void
    private var window: MainWindow?
    /// Loads what the window shows first.
    private var loading: Task<Void, Never>?
    private var requests: [@MainActor (MainWindow) -> Void] = []
    private var trimming: Timeout?

    /// - Parameter report: receives `windowClosing` and `windowClosed`.
    init(
        application: Application, settings: @escaping @MainActor () -> Settings?,
        background: @escaping @MainActor () -> BackgroundOperation,
        report: @escaping @MainActor (ProgramLifecycle.Event) -> Void
    ) {
        self.application = application
        self.settings = settings
        self.background = background
        self.report = report
    }

    /// Does something in the window that is open, or else in the next one.
    func perform(_ request: @escaping @MainActor (MainWindow) -> Void) {
        guard let window, !window.isClosing else { return requests.append(request) }
        request(window)
    }

    /// Shows the window, or brings it to the front.
    func present(_ accounts: AccountsCoordinator) {
        if let window { return window.present() }
        guard loading == nil else { return }
        accounts.attachWindow()
        loading = Task { [weak self] in
            // Delay the window until its content has loaded, so that no keystroke is lost on a slow disk, and assistive
            // technology does not find an empty window.
            await accounts.waitUntilIdle(within: .seconds(1))
            if !Task.isCancelled { self?.open(accounts) }
        }
    }

    func close() {
        if let window { return window.close() }
        // It was still loading: nothing was shown.
        loading?.cancel()
        loading = nil
        requests = []
        report(.windowClosing)
        report(.windowClosed)
    }

    /// Asks once whether the program goes on without the window.
    private func mayClose() -> Bool {
        let background = background()
        guard background.isUndecided, let window else { return true }
        BackgroundDialog.present(over: window.window) { [weak window] runs in
            background.decide(runs) { isAllowed in
                guard let window else { return }
                if isAllowed { window.close() } else { BackgroundDialog.presentDenial(over: window.window) }
            }
        }
        return false
    }

    private func open(_ accounts: AccountsCoordinator) {
        loading = nil
        let window = MainWindow(application: application, accounts: accounts, settings: settings())
        self.window = window
        window.mayClose = { [weak self] in self?.mayClose() ?? true }
        window.onClosing = { [weak self] in self?.report(.windowClosing) }
        window.onClosed = { [weak self] in
            self?.window = nil
            self?.report(.windowClosed)
            // Once what the window used is gone.
            self?.trimming = Timeout(after: .seconds(2)) { Memory.trim() }
        }
        window.present()
        ClockFormat.desktop.readPortal()
        let waiting = requests
        requests = []
        for request in waiting { request(window) }
    }
}
