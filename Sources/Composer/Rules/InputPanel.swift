/// What can be known of a keyboard on the screen (SLK-50).
///
/// Wayland tells a window nothing of it but that it has become lower. So it counts as shown once a window whose text has the
/// focus loses as much of its height at once as a keyboard takes, with its width unchanged. A keyboard that floats, and one on
/// a desk, change no window: the panel stays hidden and nothing moves (SLK-51).
public struct InputPanel: Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable {
        case hidden, showing, shown, hiding
    }

    /// The least height that a keyboard on the screen takes, in logical pixels.
    public static let minHeight = 120.0

    public private(set) var state = State.hidden
    /// Of the window without the panel; nil before it was measured.
    private var whole: (width: Double, height: Double)?
    private var height = 0.0

    public init() {}

    /// Goes to another state, for hosts that know it from elsewhere: hidden, showing, shown, hiding, and around. Any other
    /// step is ignored, except that to hidden.
    ///
    /// - Returns: whether it was taken.
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

    /// Follows the window.
    ///
    /// - Parameters: the window's size in logical pixels; whether a change of it counts, which it does while the text has the
    ///   focus unless the host says otherwise (SLK-52).
    /// - Returns: the states gone through, in order.
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
