/// The steps of a fuzzer, and how many of them a run is asked for.
public struct FuzzCount {
    private static let interval = 1_000_000

    /// The steps after which the run ends; `nil` to go on until it is ended.
    public let limit: Int?
    public private(set) var steps = 0

    /// - Parameter text: The limit, as the environment states it: `nil` or empty for none.
    /// - Returns: `nil` if the limit is not a positive number.
    public init?(limit text: String?) {
        guard let text, !text.isEmpty else {
            limit = nil
            return
        }
        guard let number = Int(text), number > 0 else { return nil }
        limit = number
    }

    /// - Returns: Whether another million is complete, which is worth a line.
    public mutating func advance(to steps: Int) -> Bool {
        defer { self.steps = steps }
        return steps / Self.interval > self.steps / Self.interval
    }

    public var isComplete: Bool { limit.map { steps >= $0 } ?? false }
    /// Whether a run that ends now has failed: libFuzzer ends one for its own reasons with success.
    public var endsEarly: Bool { limit.map { steps < $0 } ?? false }

    public var summary: String { limit.map { "\(steps) of \($0) steps" } ?? "\(steps) steps" }
}
