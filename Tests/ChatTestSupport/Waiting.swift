public import Observation
public import Testing

/// Waits until a condition on observable state holds. If it never does, the suite's time limit ends the wait and
/// records an issue at the caller's line.
@MainActor public func eventually(
    _ condition: @escaping @MainActor () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async {
    // Passing the function itself instead of a closure crashes the compiler (Swift 6.3.1).
    for await holds in Observations({ condition() }) where holds { return }
    Issue.record("the condition has not come to hold", sourceLocation: sourceLocation)
}

/// Runs all pending main-actor jobs, before a check that something did not happen.
@MainActor public func waitUntilIdle() async {
    for _ in 0..<50 { await Task.yield() }
}

/// Records values in order.
@MainActor @Observable public final class Recorder<Value> {
    public private(set) var values: [Value] = []

    public init() {}

    public func record(_ value: Value) { values.append(value) }
}

/// Suspends callers until it is opened.
@MainActor @Observable public final class Gate {
    public private(set) var waiting = 0
    @ObservationIgnored private var continuations: [CheckedContinuation<Void, Never>] = []
    @ObservationIgnored private var isOpen = false

    public init() {}

    public func pass() async {
        guard !isOpen else { return }
        waiting += 1
        await withCheckedContinuation { continuations.append($0) }
        waiting -= 1
    }

    public func open() {
        isOpen = true
        continuations.forEach { $0.resume() }
        continuations = []
    }
}
