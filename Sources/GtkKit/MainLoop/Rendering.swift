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

private final class StateLoop<State: Equatable & Sendable>: RenderingLoop {
    private let state: @MainActor () -> State
    private let render: @MainActor (State) -> Void
    private var renderedState: State?
    private var task: Task<Void, Never>?

    init(state: @escaping @MainActor () -> State, render: @escaping @MainActor (State) -> Void) {
        self.state = state
        self.render = render
    }

    func start() {
        show(state())
        task = Task { [weak self] in
            let states = Observations<State?, Never> { self?.state() }
            for await next in states {
                guard next != nil, let self, !Task.isCancelled else { return }
                // The observed value can be one keystroke old; rendering it could hide a field and lose the input.
                self.show(self.state())
            }
        }
    }

    func cancel() {
        task?.cancel()
        task = nil
    }

    private func show(_ next: State) {
        guard next != renderedState else { return }
        renderedState = next
        render(next)
    }
}
