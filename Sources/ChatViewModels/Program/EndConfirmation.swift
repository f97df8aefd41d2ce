/// Ends the program, or closes its last window, once nothing would be lost or the user agrees.
public final class EndConfirmation {
    /// What the user has requested.
    private struct Request {
        let end: @MainActor () -> Void
        let ask: @MainActor (EndQuestion) -> Void
    }

    private let findObstacle: @MainActor (_ waitsForWork: Bool) async -> EndObstacle?
    /// What happens once the search for an obstacle has ended.
    private var request: Request?
    private var search: Task<Void, Never>?
    /// Whether the search does not wait for work that would be interrupted.
    private var isHurried = false
    private var question: EndQuestion?

    /// - Parameter findObstacle: stores what can be stored, and returns what would be lost nevertheless. With
    ///   `waitsForWork`, it gives work that would be interrupted some time to end.
    public init(findObstacle: @escaping @MainActor (_ waitsForWork: Bool) async -> EndObstacle?) {
        self.findObstacle = findObstacle
    }

    /// Ends once nothing would be lost. A request while another waits replaces it, and waits for the drafts alone, so
    /// that the user is asked at once.
    /// - Parameter ask: shows a question. Not called while the same one is open, which is brought to the front.
    public func request(
        _ end: @escaping @MainActor () -> Void, asking ask: @escaping @MainActor (EndQuestion) -> Void
    ) {
        // Its window is being opened.
        if question?.isAwaited == true { return }
        let wasRequested = request != nil
        request = Request(end: end, ask: ask)
        // A key that is held down repeats the request.
        guard !wasRequested || !isHurried else { return }
        search?.cancel()
        isHurried = wasRequested || question?.isOpen == true
        search = Task { [findObstacle, isHurried] in
            let obstacle = await findObstacle(!isHurried)
            if !Task.isCancelled { proceed(with: obstacle) }
        }
    }

    /// Gives up what waits, as the user goes on with the program. A question that is on the screen stays.
    public func cancel() {
        search?.cancel()
        (search, request) = (nil, nil)
        if let question, question.isAwaited { question.withdraw() }
    }

    private func proceed(with obstacle: EndObstacle?) {
        guard let request else { return }
        (search, self.request) = (nil, nil)
        if let question, question.isOpen {
            if question.obstacle == obstacle { return question.present() }
            question.withdraw()
        }
        question = nil
        guard let obstacle else { return request.end() }
        let question = EndQuestion(obstacle, end: request.end)
        self.question = question
        request.ask(question)
    }
}

/// Whether to end the program although something would be lost.
public final class EndQuestion {
    public let obstacle: EndObstacle
    private let end: @MainActor () -> Void
    private var view: (any EndQuestionView)?
    /// Whether it is to be shown, but is not yet.
    public private(set) var isAwaited = true

    init(_ obstacle: EndObstacle, end: @escaping @MainActor () -> Void) {
        self.obstacle = obstacle
        self.end = end
    }

    /// Whether it is on the screen or will be.
    var isOpen: Bool { isAwaited || view?.isOpen == true }

    /// - Parameter view: shows the question. Retained until ``viewClosed()`` or ``withdraw()``.
    public func show(in view: any EndQuestionView) {
        isAwaited = false
        self.view = view
    }

    /// Brings it to the front.
    func present() { view?.present() }

    /// Ends the program.
    public func agree() {
        isAwaited = false
        end()
    }

    /// Closes the question without an answer.
    public func withdraw() {
        isAwaited = false
        let closing = view
        view = nil
        closing?.close()
    }

    /// Call this once the view has closed.
    public func viewClosed() { view = nil }
}

/// What shows an ``EndQuestion``.
public protocol EndQuestionView: AnyObject {
    /// Whether it is on the screen. Its window may have been closed with it.
    var isOpen: Bool { get }
    /// Brings it to the front.
    func present()
    func close()
}
