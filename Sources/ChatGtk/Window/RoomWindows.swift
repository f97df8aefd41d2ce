import ChatCore
public import ChatViewModels
public import GtkKit

/// Opens a window for each room that has one of its own, and remembers them.
public final class RoomWindows {
    /// What the windows request and report.
    public struct Outputs {
        /// Called when the user closes a window. Returns whether it may close now; `close` closes it later.
        public var mayClose: (_ window: TopLevel, _ close: @escaping @MainActor () -> Void) -> Bool
        /// Called when a window starts to close.
        public var closing: () -> Void
        /// Called after a window has closed.
        public var closed: () -> Void
        /// Runs an action in the main window.
        public var withMainWindow: (@escaping @MainActor (MainWindow) -> Void) -> Void
        /// Renders pending changes of the main window: a composer can have only one view.
        public var updateMainWindow: () -> Void
        /// Called when a window is restored from the last session, so that the main window can stay in front.
        public var restored: () -> Void
        /// Stores the list of windows.
        public var store: (StoredRoomWindows) -> Void

        public init(
            mayClose: @escaping (_ window: TopLevel, _ close: @escaping @MainActor () -> Void) -> Bool,
            closing: @escaping () -> Void, closed: @escaping () -> Void,
            withMainWindow: @escaping (@escaping @MainActor (MainWindow) -> Void) -> Void,
            updateMainWindow: @escaping () -> Void, restored: @escaping () -> Void,
            store: @escaping (StoredRoomWindows) -> Void
        ) {
            self.mayClose = mayClose
            self.closing = closing
            self.closed = closed
            self.withMainWindow = withMainWindow
            self.updateMainWindow = updateMainWindow
            self.restored = restored
            self.store = store
        }
    }

    private let application: Application
    private let accounts: AccountsCoordinator
    private let settings: Settings?
    private let outputs: Outputs
    private(set) var windows: [AccountRoom: RoomWindow] = [:]
    private var stored: StoredRoomWindows {
        didSet { if stored != oldValue { outputs.store(stored) } }
    }
    /// Whether all windows close because the program quits; they are restored at the next start.
    private var isQuitting = false
    /// The rooms whose windows are to be restored.
    private var awaited: Set<AccountRoom>
    private var rendering: Rendering?

    /// - Parameter stored: the windows of the last session, to be restored.
    public init(
        application: Application, accounts: AccountsCoordinator, settings: Settings?, stored: StoredRoomWindows,
        outputs: Outputs
    ) {
        self.application = application
        self.accounts = accounts
        self.settings = settings
        self.stored = stored
        awaited = Set(stored.open)
        self.outputs = outputs
        rendering = Rendering({ accounts.roomWindows }, { [weak self] in self?.show($0) })
        accounts.restoreWindows(of: stored.open)
    }

    /// The number of windows that are not closing.
    public var openCount: Int { windows.values.count { !$0.isClosing } }
    /// Whether there is no window, including closing ones.
    public var isEmpty: Bool { windows.isEmpty }
    /// Returns the window of a room, or `nil` if it has none.
    public func window(of room: AccountRoom) -> TopLevel? { windows[room]?.window }

    /// Closes all windows before the program quits.
    public func closeAll() {
        isQuitting = true
        rendering = nil
        for window in windows.values { window.close() }
    }

    private func show(_ rooms: [AccountRoom]) {
        let open = Set(rooms)
        for (room, window) in windows where !open.contains(room) { window.dismiss() }
        for room in rooms where windows[room] == nil { makeWindow(of: room) }
    }

    private func makeWindow(of room: AccountRoom) {
        outputs.updateMainWindow()
        let window = RoomWindow(
            of: room, in: application, accounts: accounts, settings: settings, size: stored.size(of: room),
            outputs: RoomWindow.Outputs(
                mayClose: { [weak self] window in
                    self?.outputs.mayClose(window.window) { [weak window] in window?.close() } ?? true
                },
                closing: { [weak self] in self?.noteClosing($0) },
                closed: { [weak self] window in
                    self?.noteClosed(window)
                },
                withMainWindow: { [outputs] in outputs.withMainWindow($0) }))
        guard let window else { return }
        windows[room] = window
        stored.noteOpened(room)
        window.present()
        if awaited.remove(room) != nil { outputs.restored() }
    }

    private func noteClosed(_ window: RoomWindow) {
        windows[window.room] = nil
        // The room may have been requested again while its window was closing.
        if !isQuitting { show(accounts.roomWindows) }
        outputs.closed()
    }

    private func noteClosing(_ window: RoomWindow) {
        var next = stored
        next.setSize(window.size, of: window.room)
        if !isQuitting { next.noteClosed(window.room) }
        stored = next
        outputs.closing()
    }
}
