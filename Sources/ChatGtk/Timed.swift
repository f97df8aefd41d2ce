import GtkKit

/// The state of a view that shows times: it is rendered again when the desktop's clock changes.
nonisolated struct Timed<State: Equatable & Sendable>: Equatable, Sendable {
    let state: State
    let isTwelveHour: Bool

    @MainActor init(_ state: State) {
        self.state = state
        isTwelveHour = ClockFormat.desktop.isTwelveHour
    }
}
