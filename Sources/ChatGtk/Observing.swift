import GtkKit
import Observation

/// Renders a view model's state for as long as this object lives: once at the start, then once after each burst of
/// changes, and only when it differs.
final class Rendering {
    private let loop: any RenderingLoop

    init<State: Equatable & Sendable>(
        _ state: @escaping @MainActor () -> State, _ render: @escaping @MainActor (State) -> Void
    ) {
        let loop = StateLoop(state: state, render: render)
        self.loop = loop
        loop.start()
    }

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
                // What was observed may be a key behind by now: a field hidden for it would lose what is typed.
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
