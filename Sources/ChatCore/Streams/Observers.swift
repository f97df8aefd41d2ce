/// The observers of a stream of values.
public struct Observers<Value: Sendable>: Sendable {
    private var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
    private var next = 0

    public init() {}

    public var isEmpty: Bool { continuations.isEmpty }

    public mutating func add(_ continuation: AsyncStream<Value>.Continuation) -> Int {
        next += 1
        continuations[next] = continuation
        return next
    }

    public mutating func remove(_ token: Int) {
        continuations[token] = nil
    }

    /// Sends a value to all observers, and removes terminated ones.
    public mutating func yield(_ value: Value) {
        for (token, continuation) in continuations {
            if case .terminated = continuation.yield(value) { continuations[token] = nil }
        }
    }

    public mutating func move(to others: inout Self) {
        for continuation in continuations.values { _ = others.add(continuation) }
        continuations = [:]
    }

    public mutating func finish() {
        for continuation in continuations.values { continuation.finish() }
        continuations = [:]
    }
}
