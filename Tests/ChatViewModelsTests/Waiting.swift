import Observation

/// Returns when a condition over observable state holds. A test that waits in vain is ended by its time limit.
@MainActor func eventually(_ condition: @escaping @MainActor () -> Bool) async {
    // A closure of its own: handing the function over as it is crashes the compiler (Swift 6.3.1).
    for await holds in Observations({ condition() }) where holds { return }
}

/// Lets everything that is ready to run on the main actor run: for what must not happen.
@MainActor func settle() async {
    for _ in 0..<50 { await Task.yield() }
}

/// What was told, in order.
@MainActor @Observable final class Recorder<Value> {
    private(set) var values: [Value] = []

    func record(_ value: Value) { values.append(value) }
}

/// Holds those who come to it back until it is opened.
@MainActor @Observable final class Gate {
    private(set) var waiting = 0
    @ObservationIgnored private var continuations: [CheckedContinuation<Void, Never>] = []
    @ObservationIgnored private var isOpen = false

    func pass() async {
        guard !isOpen else { return }
        waiting += 1
        await withCheckedContinuation { continuations.append($0) }
        waiting -= 1
    }

    func open() {
        isOpen = true
        continuations.forEach { $0.resume() }
        continuations = []
    }
}
