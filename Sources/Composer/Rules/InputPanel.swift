/// The inferred state of an on-screen keyboard (SLK-50).
///
/// Wayland only reports that the window has shrunk. The panel counts as shown once a window with focused text loses
/// at least a keyboard's height in one step at unchanged width. Floating and hardware keyboards don't resize the
/// window: the panel stays hidden and the layout unchanged (SLK-51).
public struct InputPanel: Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable {
        case hidden, showing, shown, hiding
    }

    /// The minimum height of an on-screen keyboard, in logical pixels.
    public static let minHeight = 120.0

    public private(set) var state = State.hidden
    /// The size of the window without the panel; `nil` before the first measurement.
    private var whole: (width: Double, height: Double)?
    private var height = 0.0

    public init() {}

    /// Changes the state, for hosts that get it from another source. Only the cycle hidden, showing, shown, hiding is
    /// valid; any state may change to hidden. Ignores other transitions.
    ///
    /// - Returns: whether the state changed.
    @discardableResult
    public mutating func move(to next: State) -> Bool {
        let isNext =
            switch (state, next) {
            case (.hidden, .showing), (.showing, .shown), (.shown, .hiding): true
            case (_, .hidden): state != .hidden
            default: false
            }
        if isNext { state = next }
        return isNext
    }

    /// Updates the state for a window size.
    ///
    /// - Parameters:
    ///   - width: the width of the window in logical pixels.
    ///   - height: its height in logical pixels.
    ///   - counts: whether a change of height counts, which it does while the text has focus unless the host
    ///     overrides it (SLK-52).
    /// - Returns: the states passed through, in order.
    public mutating func update(width: Double, height: Double, counts: Bool) -> [State] {
        defer { self.height = height }
        guard let whole, whole.width == width else {
            self.whole = (width, height)
            return move(through: [.hidden])
        }
        switch state {
        case .hidden, .hiding:
            guard counts, self.height - height >= Self.minHeight else {
                if state == .hidden || height >= whole.height { self.whole = (width, height) }
                return height >= (self.whole?.height ?? 0) ? move(through: [.hidden]) : []
            }
            self.whole = (width, self.height)
            return move(through: [.showing, .shown])
        case .showing, .shown:
            if whole.height - height < Self.minHeight {
                self.whole = (width, height)
                return move(through: [.hiding, .hidden])
            }
            return counts ? [] : move(through: [.hiding])
        }
    }

    private mutating func move(through states: [State]) -> [State] {
        states.filter { move(to: $0) }
    }
}
