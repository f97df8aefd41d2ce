import Foundation

/// Deterministic message texts, a function of the key.
nonisolated enum BenchText: String, CaseIterable {
    /// Typical chat messages: a median of eleven words.
    case short
    /// 1 to 400 words, uniformly distributed.
    case long

    private static let words =
        "the quick room of messages keeps what was written and shows it again when someone scrolls up far into the past"
        .split(separator: " ").map(String.init)

    func text(of key: Int) -> String {
        // SplitMix64
        var state = UInt64(bitPattern: Int64(key)) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
        func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
        func uniform() -> Double { Double(next() >> 11) / Double(1 << 53) }
        let count: Int
        switch self {
        case .long: count = 1 + Int(uniform() * 400)
        case .short:
            let normal = (-2 * log(max(uniform(), 1e-12))).squareRoot() * cos(2 * .pi * uniform())
            count = min(150, max(1, Int(exp(log(11) + 0.8 * normal))))
        }
        return (0..<count).map { _ in Self.words[Int(next() % UInt64(Self.words.count))] }.joined(separator: " ")
    }
}
