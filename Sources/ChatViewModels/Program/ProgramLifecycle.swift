/// The program's lifecycle as a table of phases and events: when it opens its session and windows, and when it ends.
///
/// The session (store, backends, accounts) runs from the start to the end; windows come and go.
public nonisolated struct ProgramLifecycle: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        /// The session is being opened.
        case opening
        /// The session could not be opened; a dialog says why.
        case failed
        /// The session runs without a window.
        case windowless
        /// The main window, a room's own, or several are open.
        case window
        /// The last window is hidden and stores its state.
        case closingWindow
        /// The session is being closed.
        case closing
        /// The session is closed, and the program gives up its bus name: what was requested before is still received.
        case releasingName
        /// Something was requested meanwhile, for which the program takes its bus name back.
        case claimingName
        case ended
    }

    public enum Event: Equatable, Sendable {
        /// The user, a link or another program requests the main window.
        case windowRequested
        case sessionOpened
        case sessionFailed
        /// A damaged store was repaired.
        case repaired
        /// The last window starts to close.
        case windowClosing
        case windowClosed
        case quitRequested
        /// A session without a window has waited long enough for a request.
        case waitEnded
        case sessionClosed
        /// Requests go to another process from now on, and those before have been handled.
        case nameReleased
        case nameClaimed
        /// Another process was started meanwhile and has the name.
        case nameLost
        /// A restart without a window would lose nothing.
        case restartDue
        /// A notification or another program requests something of the session.
        case sessionRequested
    }

    public enum Command: Equatable, Sendable {
        case openSession
        /// Shows the main window, or brings it to the front.
        case presentWindow
        /// Closes all windows.
        case closeWindow
        /// Waits for a request for a while, since the program may not keep running without a window.
        case awaitRequest
        case closeSession
        case releaseName
        case claimName
        case end
        /// Ends, and starts again without a window in the same process.
        case restart
    }

    private(set) var phase = Phase.opening
    /// Whether to show a window as soon as possible.
    private var wantsWindow = false
    private var wantsToQuit = false
    /// Whether the session is closed for a restart that nothing has prevented since.
    private var wantsRestart = false
    /// Whether the session is opened again after it was closed, with or without a window.
    private var wantsSession = false

    public init() {}

    /// - Parameter staysWithoutWindow: whether the user allows the program to keep running without a window.
    public mutating func handle(_ event: Event, staysWithoutWindow: Bool) -> [Command] {
        switch (phase, event) {
        case (.opening, .windowRequested), (.closingWindow, .windowRequested), (.closing, .windowRequested),
            (.releasingName, .windowRequested), (.claimingName, .windowRequested):
            // A request after Quit restarts the program, as launching it a moment later would.
            (wantsWindow, wantsToQuit) = (true, false)
            return []
        case (.windowless, .restartDue):
            guard staysWithoutWindow else { return [] }
            wantsRestart = true
            return close()
        case (.closing, .sessionRequested), (.releasingName, .sessionRequested), (.claimingName, .sessionRequested):
            if wantsRestart { wantsSession = true }
            return []
        case (.opening, .quitRequested), (.closingWindow, .quitRequested), (.closing, .quitRequested),
            (.releasingName, .quitRequested), (.claimingName, .quitRequested):
            (wantsWindow, wantsToQuit) = (false, true)
            (wantsRestart, wantsSession) = (false, false)
            return []
        case (.opening, .sessionOpened), (.closingWindow, .windowClosed):
            return goOn(waitsForRequest: event == .sessionOpened, staysWithoutWindow)
        case (.opening, .sessionFailed):
            phase = .failed
            return []
        case (.failed, .repaired):
            (phase, wantsWindow) = (.opening, true)
            return [.openSession]
        case (.failed, .quitRequested):
            phase = .ended
            return [.end]
        case (.windowless, .windowRequested), (.window, .windowRequested):
            phase = .window
            return [.presentWindow]
        case (.windowless, .quitRequested): return close()
        case (.windowless, .waitEnded): return staysWithoutWindow ? [] : close()
        case (.window, .windowClosing):
            phase = .closingWindow
            return []
        case (.window, .quitRequested):
            (phase, wantsToQuit) = (.closingWindow, true)
            return [.closeWindow]
        case (.closing, .sessionClosed): return wantsToGoOn ? reopen() : releaseName()
        case (.releasingName, .nameReleased):
            if wantsToGoOn {
                phase = .claimingName
                return [.claimName]
            }
            phase = .ended
            return [wantsRestart ? .restart : .end]
        case (.claimingName, .nameClaimed): return wantsToGoOn ? reopen() : releaseName()
        case (.claimingName, .nameLost):
            phase = .ended
            return [.end]
        default: return []
        }
    }

    /// Leaves a phase during which requests had to wait.
    private mutating func goOn(waitsForRequest: Bool, _ staysWithoutWindow: Bool) -> [Command] {
        if wantsWindow {
            (phase, wantsWindow) = (.window, false)
            return [.presentWindow]
        }
        if wantsToQuit || !waitsForRequest && !staysWithoutWindow { return close() }
        phase = .windowless
        return staysWithoutWindow ? [] : [.awaitRequest]
    }

    /// Whether something was requested while the session was closed.
    private var wantsToGoOn: Bool { wantsWindow || wantsSession }

    private mutating func reopen() -> [Command] {
        (wantsRestart, wantsSession) = (false, false)
        phase = .opening
        return [.openSession]
    }

    private mutating func releaseName() -> [Command] {
        phase = .releasingName
        return [.releaseName]
    }

    private mutating func close() -> [Command] {
        phase = .closing
        return [.closeSession]
    }
}
