/// A Swift closure passed through C as user data.
///
/// Pass it to C retained, together with a destroy notify that releases it: the signal connection, source or callback
/// then owns the closure.
final class ClosureBox<Closure> {
    let closure: Closure

    init(_ closure: Closure) {
        self.closure = closure
        ClosureCount.live += 1
    }

    isolated deinit {
        ClosureCount.live -= 1
    }
}

/// The number of closures that C code currently owns. For lifetime tests.
public enum ClosureCount {
    public internal(set) static var live = 0
}
