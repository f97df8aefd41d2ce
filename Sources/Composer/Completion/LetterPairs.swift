/// An index of the texts that contain one letter anywhere before another, to narrow down queries of scattered letters.
///
/// Letters map to 64 classes, so results may include false positives but never miss a match. Frequent pairs are
/// stored as bitmaps, rare ones as lists.
struct LetterPairs: Sendable {
    fileprivate enum Holders: Sendable {
        case list([UInt32])
        /// A bit per text, and the number of set bits.
        case bits([UInt64], count: Int)

        var count: Int {
            switch self {
            case .list(let list): list.count
            case .bits(_, let count): count
            }
        }
    }

    /// Buckets of single letters follow those of the pairs.
    private static let classes = 64
    private static let buckets = classes * classes + classes

    private var holders: [Holders]
    private let size: Int

    /// - Parameters:
    ///   - count: the number of texts.
    ///   - text: returns the units of a text by its number.
    init(count: Int, text: (Int) -> FoldedUnits) {
        size = count
        var counts = [UInt32](repeating: 0, count: Self.buckets)
        var scan = PairScan()
        for number in 0..<count { scan.buckets(of: text(number)) { counts[$0] += 1 } }
        holders = counts.map { held in
            Int(held) * 32 > count
                ? .bits([UInt64](repeating: 0, count: (count + 63) / 64), count: Int(held))
                : .list([])
        }
        for bucket in 0..<Self.buckets where counts[bucket] > 0 {
            if case .list(var list) = holders[bucket] {
                list.reserveCapacity(Int(counts[bucket]))
                holders[bucket] = .list(list)
            }
        }
        for number in 0..<count {
            scan.buckets(of: text(number)) { bucket in Self.add(number, to: &holders[bucket]) }
        }
    }

    private static func add(_ number: Int, to holders: inout Holders) {
        switch holders {
        case .list(var list):
            holders = .list([])
            list.append(UInt32(number))
            holders = .list(list)
        case .bits(var bits, let count):
            holders = .bits([], count: 0)
            bits[number / 64] |= 1 << UInt64(number % 64)
            holders = .bits(bits, count: count)
        }
    }

    fileprivate static func letterClass(_ unit: UInt16) -> Int {
        switch unit {
        case 0x61...0x7A: Int(unit) - 0x61
        case 0x30...0x39: 26 + (Int(unit) - 0x30) % 6
        default: 32 + Int((UInt32(unit) &* 0x9E37_79B1) >> 27)
        }
    }

    fileprivate static func bucket(_ first: Int, _ second: Int) -> Int { first * classes + second }
    fileprivate static func bucket(alone letter: Int) -> Int { classes * classes + letter }

    /// Visits, in order, the texts that may contain the letters of the query in order, until `body` returns `false`.
    func visit(holdersOf query: FoldedUnits, _ body: (Int) -> Bool) {
        let letters = query.filter { !$0.isBlank }.map(Self.letterClass)
        guard let first = letters.first else { return }
        var queryBuckets = Set(zip(letters, letters.dropFirst()).map { Self.bucket($0, $1) })
        if letters.count == 1 { queryBuckets = [Self.bucket(alone: first)] }
        let rarest = queryBuckets.map { holders[$0] }.sorted { $0.count < $1.count }
        switch rarest[0] {
        case .list(let list):
            for number in list where rarest.dropFirst().allSatisfy({ $0.contains(number) }) {
                guard body(Int(number)) else { return }
            }
        case .bits(let bits, _):
            let others = rarest.dropFirst().prefix(3).compactMap { holders -> [UInt64]? in
                if case .bits(let bits, _) = holders { bits } else { nil }
            }
            for wordIndex in bits.indices {
                var common = bits[wordIndex]
                if common == 0 { continue }
                for other in others { common &= other[wordIndex] }
                while common != 0 {
                    guard body(wordIndex * 64 + common.trailingZeroBitCount) else { return }
                    common &= common - 1
                }
            }
        }
    }
}

extension LetterPairs.Holders {
    fileprivate func contains(_ number: UInt32) -> Bool {
        switch self {
        case .bits(let bits, _): return bits[Int(number) / 64] & (1 << UInt64(number % 64)) != 0
        case .list(let list):
            var (low, high) = (0, list.count)
            while low < high {
                let middle = (low + high) / 2
                if list[middle] < number { low = middle + 1 } else { high = middle }
            }
            return low < list.count && list[low] == number
        }
    }
}

/// Finds the distinct pairs of a text: a pair counts if the second letter follows the first occurrence of the first.
private struct PairScan {
    private var after = [UInt64](repeating: 0, count: 64)

    mutating func buckets(of text: FoldedUnits, _ body: (Int) -> Void) {
        var present: UInt64 = 0
        for index in text.indices.reversed() where !text[index].isBlank {
            let letter = LetterPairs.letterClass(text[index])
            after[letter] = present
            present |= 1 << UInt64(letter)
        }
        var letters = present
        while letters != 0 {
            let letter = letters.trailingZeroBitCount
            letters &= letters - 1
            body(LetterPairs.bucket(alone: letter))
            var seconds = after[letter]
            while seconds != 0 {
                body(LetterPairs.bucket(letter, seconds.trailingZeroBitCount))
                seconds &= seconds - 1
            }
        }
    }
}
