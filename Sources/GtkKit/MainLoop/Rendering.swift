import Observation

/// Renders a view model's state for the lifetime of this object: once initially, then once per batch of changes, and
/// only if the state differs.
@MainActor public final class Rendering {
    private let loop: any RenderingLoop

    public init<State: Equatable & Sendable>(
        _ state: @escaping @MainActor () -> State, _ render: @escaping @MainActor (State) -> Void
    ) {
        let loop = StateLoop(state: state, render: render)
        self.loop = loop
        loop.start()
    }

    // Needs the class's explicit @MainActor in optimized builds, see Object.
    isolated deinit { loop.cancel() }
}

private protocol RenderingLoop: AnyObject {
    func cancel()
}

/// Tracks the state itself: `Observations` would resume in the thread pool, which wakes a thread for each change of each
/// view and then the main loop.
private final class StateLoop<State: Equatable & Sendable>: RenderingLoop {
    private let state: @MainActor () -> State
    private let render: @MainActor (State) -> Void
    private var renderedState: State?
    private let end = RenderingEnd()

    init(state: @escaping @MainActor () -> State, render: @escaping @MainActor (State) -> Void) {
        self.state = state
        self.render = render
    }

    func start() { renderCurrentState() }

    func cancel() { end.isReached = true }

    private func renderCurrentState() {
        guard !end.isReached else { return }
        let next = withObservationTracking {
            _ = end.isReached
            return state()
        } onChange: { [weak self] in
            // Called before the first change. The state is read when the job runs, after all changes until then.
            Task { @MainActor in self?.renderCurrentState() }
        }
        guard next != renderedState else { return }
        renderedState = next
        render(next)
    }
}

/// Is tracked with the state: a tracking stays with every object that was read, often one that outlives the view and
/// never changes, until one of them changes.
@Observable private final class RenderingEnd {
    var isReached = false
}
