import CGtk
import ChatCore
import ChatGtk
import ChatViewModels
import Composer
import ComposerGtk
import Foundation
import GtkKit

/// Shows the views with fixture data: renders screenshots, or performs actions for a leak check.
final class Gallery {
    private let application = Application(id: "io.github.parlance_chat.Parlance.Gallery")
    let service: FixtureService
    private let work: @MainActor (Gallery) async -> Int32
    private var status: Int32 = 0
    /// A Wednesday morning, so that images drawn on different days are the same.
    nonisolated static let now =
        Calendar.current.date(from: DateComponents(year: 2026, month: 10, day: 14, hour: 10, minute: 24)) ?? Date()
    private(set) var coordinator: ConversationCoordinator?
    private(set) var window: MainWindow?
    private var accounts: AccountsCoordinator?
    private var roomWindows: RoomWindows?

    /// - Parameters:
    ///   - isPublished: whether the room list is for published screenshots.
    ///   - capabilities: what the rooms' server supports.
    init(
        isPublished: Bool = false, capabilities: BackendCapabilities = [],
        _ work: @escaping @MainActor (Gallery) async -> Int32
    ) {
        self.work = work
        service = FixtureService(now: Gallery.now, isPublished: isPublished, capabilities: capabilities)
        application.onStartup { MainLoop.attachDispatchQueue() }
        application.onActivate { [weak self] in self?.start() }
    }

    func run() -> Int32 {
        let result = application.run(["parlance-gallery"])
        return status != 0 ? status : result
    }

    private func start() {
        Resource.loadStyle()
        application.hold()
        Task {
            status = await work(self)
            // An open window would keep the application running.
            if status != 0 || window != nil { application.quit() }
            application.release()
        }
    }

    // MARK: Helpers

    /// Opens the main window on the fixture conversation.
    func openWindow() async {
        let coordinator = makeCoordinator()
        self.coordinator = coordinator
        let accounts = AccountsCoordinator(local: coordinator)
        let window = MainWindow(application: application, accounts: accounts, settings: nil)
        self.window = window
        coordinator.start(opening: FixtureService.team)
        await present(window, of: accounts)
    }

    /// Opens the main window on the fixture conversation of an account.
    func openWindow(of service: FixtureAccounts, encryption: FixtureEncryption) async {
        let accounts = AccountsCoordinator(local: makeCoordinator(), service: service) { [weak self] _, session in
            guard let self else { return nil }
            let coordinator = makeCoordinator(session, encryption: encryption)
            self.coordinator = coordinator
            coordinator.start(opening: FixtureService.team)
            return coordinator
        }
        accounts.start(showing: FixtureAccounts.account.id)
        await accounts.waitUntilIdle(within: .seconds(10))
        self.accounts = accounts
        let window = MainWindow(application: application, accounts: accounts, settings: nil)
        self.window = window
        await present(window, of: accounts)
    }

    /// Opens a room of the account in a window of its own.
    func openRoomWindow(of room: RoomID) async -> TopLevel? {
        guard let accounts, let coordinator else { return nil }
        let windows = RoomWindows(
            application: application, accounts: accounts, settings: nil, stored: StoredRoomWindows(),
            outputs: RoomWindows.Outputs(
                mayClose: { _, _ in true }, closing: {}, closed: {}, withMainWindow: { _ in },
                updateMainWindow: { [weak self] in self?.window?.update() }, restored: {}, store: { _ in }))
        roomWindows = windows
        coordinator.openWindow(of: room)
        let accountRoom = AccountRoom(FixtureAccounts.account.id, room)
        await wait(for: "a window of \(room.rawValue)") { windows.window(of: accountRoom) != nil }
        await waitUntilDrawn()
        return windows.window(of: accountRoom)
    }

    func closeRoomWindows() async {
        roomWindows?.closeAll()
        await waitUntilDrawn()
        roomWindows = nil
    }

    private func makeCoordinator(
        _ session: AccountSession = AccountSession(), encryption: FixtureEncryption? = nil
    ) -> ConversationCoordinator {
        ConversationCoordinator(
            ConversationEnvironment(
                service: service, now: { Gallery.now }, translator: .gettext, session: session,
                completion: ConversationEnvironment.Completion(everyone: "Everyone in this room"),
                encryption: encryption))
    }

    private func present(_ window: MainWindow, of accounts: AccountsCoordinator) async {
        window.present()
        await waitForMessages(of: FixtureService.team)
        await waitUntilDrawn()
        // Count the window as attended even if it does not have the focus.
        accounts.attend(true)
    }

    func closeWindow() async {
        let closing = window
        window = nil
        await withCheckedContinuation { continuation in
            closing?.onClosed = { continuation.resume() }
            closing?.close()
        }
        coordinator = nil
        accounts = nil
        await waitUntilDrawn()
    }

    /// Lets a fixed time pass, so that measurements of different commits include equally much of what follows.
    func pause() async {
        try? await Task.sleep(for: .milliseconds(700))
    }

    func showTyping() async {
        await service.showTyping([FixtureConversation.ann.id], in: FixtureService.team)
        await waitUntilDrawn()
    }
}
