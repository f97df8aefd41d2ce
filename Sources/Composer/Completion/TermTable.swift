/// The search terms of entities, sorted, and the words within them, sorted as well.
struct TermTable: Sendable {
    /// A word inside a term: the number of the term and the offset in it.
    typealias Word = (term: UInt32, start: UInt32)

    /// The concatenated terms.
    private let units: [UInt16]
    /// The start offset of each term, and the end of the last one.
    private let starts: [UInt32]
    /// The entity index of each term; the highest bit is set for aliases.
    private let owners: [UInt32]
    /// The words that don't start a term, sorted by text.
    let words: [Word]
    let folding: SharedFolding

    private static let aliasBit: UInt32 = 1 << 31

    var count: Int { owners.count }

    init(_ entities: [CompletionEntity], aliases: (CompletionEntity) -> [String]) {
        var folding = Folding()
        var draft = Draft()
        for (number, entity) in entities.enumerated() {
            draft.append(FoldedText(entity.name, with: &folding).units, owner: UInt32(number))
            for alias in aliases(entity) {
                draft.append(FoldedText(alias, with: &folding).units, owner: UInt32(number) | Self.aliasBit)
            }
        }
        (units, starts, owners) = draft.sorted()
        words = Self.findWords(units, starts)
        self.folding = SharedFolding(folding)
    }

    private static func findWords(_ units: [UInt16], _ starts: [UInt32]) -> [Word] {
        units.withUnsafeBufferPointer { units in
            var words: [Word] = []
            for term in 0..<(starts.count - 1) {
                let text = FoldedUnits(rebasing: units[Int(starts[term])..<Int(starts[term + 1])])
                for offset in 0..<text.count where offset > 0 && text.startsWord(offset) {
                    words.append((UInt32(term), UInt32(offset)))
                }
            }
            func text(_ word: Word) -> FoldedUnits {
                FoldedUnits(
                    rebasing: units[Int(starts[Int(word.term)] + word.start)..<Int(starts[Int(word.term) + 1])])
            }
            return sortedByText(words, text) { $0.term == $1.term ? $0.start < $1.start : $0.term < $1.term }
        }
    }

    /// Sorts by text, with the first four units as a key that decides most comparisons.
    fileprivate static func sortedByText<Item>(
        _ items: [Item], _ text: (Item) -> FoldedUnits, ties: (Item, Item) -> Bool
    ) -> [Item] {
        let keyed = items.map { item in (key: text(item).leadingKey, item: item) }
        return keyed.sorted { left, right in
            if left.key != right.key { return left.key < right.key }
            let order = text(left.item).compare(text(right.item))
            return order == 0 ? ties(left.item, right.item) : order < 0
        }.map(\.item)
    }

    // MARK: Reading

    func withUnits<Result>(_ body: (FoldedUnits) -> Result) -> Result { units.withUnsafeBufferPointer(body) }

    func owner(_ term: Int) -> Int { Int(owners[term] & ~Self.aliasBit) }
    /// Whether the term is the name of its entity rather than an alias.
    func isName(_ term: Int) -> Bool { owners[term] & Self.aliasBit == 0 }

    func text(_ term: Int, in units: FoldedUnits) -> FoldedUnits {
        FoldedUnits(rebasing: units[Int(starts[term])..<Int(starts[term + 1])])
    }

    /// Returns the text from the start of a word to the end of its term.
    func word(_ wordIndex: Int, in units: FoldedUnits) -> FoldedUnits {
        let (term, start) = words[wordIndex]
        return FoldedUnits(rebasing: units[Int(starts[Int(term)] + start)..<Int(starts[Int(term) + 1])])
    }

    /// The index of the first term that isn't less than `pattern`.
    func firstTerm(from pattern: FoldedUnits, in units: FoldedUnits) -> Int {
        Self.partition(count) { text($0, in: units).compare(pattern) < 0 }
    }

    /// The index of the first word that isn't less than `pattern`.
    func firstWord(from pattern: FoldedUnits, in units: FoldedUnits) -> Int {
        Self.partition(words.count) { word($0, in: units).compare(pattern) < 0 }
    }

    private static func partition(_ count: Int, isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The unsorted terms.
private struct Draft {
    private var units: [UInt16] = []
    private var starts: [UInt32] = [0]
    private var owners: [UInt32] = []

    mutating func append(_ text: [UInt16], owner: UInt32) {
        guard !text.isEmpty else { return }
        units += text
        starts.append(UInt32(units.count))
        owners.append(owner)
    }

    func sorted() -> (units: [UInt16], starts: [UInt32], owners: [UInt32]) {
        units.withUnsafeBufferPointer { units in
            func text(_ number: Int) -> FoldedUnits {
                FoldedUnits(rebasing: units[Int(starts[number])..<Int(starts[number + 1])])
            }
            let order = TermTable.sortedByText(Array(owners.indices), text, ties: <)
            var sorted: [UInt16] = []
            sorted.reserveCapacity(units.count)
            var sortedStarts: [UInt32] = [0]
            sortedStarts.reserveCapacity(starts.count)
            for number in order {
                sorted.append(contentsOf: text(number))
                sortedStarts.append(UInt32(sorted.count))
            }
            return (sorted, sortedStarts, order.map { owners[$0] })
        }
    }
}

extension FoldedUnits {
    /// The first four units as a number. If two keys differ, they order like their texts.
    fileprivate var leadingKey: UInt64 {
        (0..<4).reduce(0) { key, index in key << 16 | (index < count ? UInt64(Swift.min(self[index], 0xFFFE)) + 1 : 0) }
    }

    /// Negative if this text precedes the other, positive if it follows, 0 if they are equal.
    fileprivate func compare(_ other: FoldedUnits) -> Int {
        for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
            return self[index] < other[index] ? -1 : 1
        }
        return count - other.count
    }
}
