/// The running session, and what is to be done once it runs, with or without a window.
final class CurrentSession {
    typealias Request = @MainActor (RunningSession?) -> Void

    private(set) var session: RunningSession?
    /// Whether the session could not be opened, and is not being opened again.
    private var hasFailed = false
    private var requests: [Request] = []
    private let requested: @MainActor () -> Void

    /// - Parameter requested: called when a request waits, for which a session that is being closed is opened again.
    init(requested: @escaping @MainActor () -> Void) {
        self.requested = requested
    }

    /// Does something with the session once it runs.
    /// - Parameter request: receives `nil` if the session could not be opened.
    func perform(_ request: @escaping Request) {
        guard session != nil || hasFailed else { return wait(request) }
        request(session)
    }

    /// Waits with a request until the session is open, or has failed to open once more.
    func wait(_ request: @escaping Request) {
        requests.append(request)
        requested()
    }

    func noteOpening() { hasFailed = false }

    /// Call ``performRequests()`` once everything else follows the session.
    func noteOpened(_ opened: RunningSession) { session = opened }

    func noteFailure() {
        hasFailed = true
        performRequests()
    }

    func noteClosing() { session = nil }

    func performRequests() {
        let waiting = requests
        requests = []
        for request in waiting { request(session) }
    }
}
