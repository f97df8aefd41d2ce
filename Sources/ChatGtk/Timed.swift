import GtkKit

/// The state of a view that shows times. It is rendered again when the clock settings change.
nonisolated struct Timed<State: Equatable & Sendable>: Equatable, Sendable {
    let state: State
    let isTwelveHour: Bool

    @MainActor init(_ state: State) {
        self.state = state
        isTwelveHour = ClockFormat.desktop.isTwelveHour
    }
}
