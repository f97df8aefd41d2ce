/// A Swift closure on its way through C as user data.
///
/// Whoever hands a box to C retains it and passes the notify that releases it, so that the connection, source or
/// callback owns the closure.
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

/// How many closures C code holds at the moment. For tests of lifetimes.
public enum ClosureCount {
    public internal(set) static var live = 0
}
