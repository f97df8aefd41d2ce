/// The heights of a list's rows, as far as they are known: where a row lies, and which row lies where.
///
/// Keeps two bytes a measured row and nothing for the others, which count as the mean of the measured ones.
/// Everything takes time that grows with the logarithm of the number of measured stretches.
nonisolated package struct HeightIndex {
    /// What a row counts before any was measured, in pixels.
    package static let initialEstimate = 48.0
    /// Beyond so many stretches the one farthest from what was measured last is forgotten, so that memory is bounded
    /// however many places are visited.
    package static let runLimit = 3000

    private var tree = HeightTree()
    private var frozenEstimate: Double?
    private var lastMean = Self.initialEstimate

    package init() {}

    package var rows: Int { tree.sum.rows }
    package var measuredRows: Int { tree.sum.measured }
    package var runs: Int { tree.runs }

    /// What an unmeasured row counts, in pixels.
    package var estimate: Double { frozenEstimate ?? mean }

    private var mean: Double {
        let sum = tree.sum
        return sum.measured == 0 ? lastMean : Double(sum.pixels) / Double(sum.measured)
    }

    /// While set, measuring does not change what unmeasured rows count: the thumb stays under the pointer.
    package var isEstimateFrozen: Bool {
        get { frozenEstimate != nil }
        set { if newValue != isEstimateFrozen { frozenEstimate = newValue ? mean : nil } }
    }

    /// All rows together, in pixels.
    package var total: Double { pixels(tree.sum) }

    /// The height of a row in pixels, nil if it was not measured.
    package func height(of row: Int) -> Int? {
        let (run, rowInRun, _) = tree.locate(row: row)
        return run.isMeasured ? run.height(at: rowInRun) : nil
    }

    /// The rows before `row` together, in pixels.
    /// - Parameter row: from 0 to and including the number of rows.
    package func offset(of row: Int) -> Double {
        guard row > 0 else { return 0 }
        guard row < rows else { return total }
        let (run, rowInRun, before) = tree.locate(row: row)
        return pixels(before) + (run.isMeasured ? Double(run.pixels(before: rowInRun)) : Double(rowInRun) * estimate)
    }

    /// The row that covers `offset` pixels from the top: the first or last one if none does, nil if there is none.
    package func row(at offset: Double) -> Int? {
        if offset < 0 { return rows > 0 ? 0 : nil }
        guard let (run, rest, before) = tree.locate(offset: offset, estimate: estimate) else { return nil }
        if run.isMeasured { return before + run.row(at: rest) }
        // Without a height only the last run is found, for an offset past all.
        let rowInRun = estimate > 0 ? min(rest / estimate, Double(run.rows - 1)) : Double(run.rows - 1)
        return before + Int(rowInRun)
    }

    /// Remembers a row's height in pixels.
    package mutating func measure(_ row: Int, height: Int) {
        let (run, rowInRun, _) = tree.locate(row: row)
        if run.isMeasured {
            if run.height(at: rowInRun) != height { tree.set(row: row, to: height) }
            return
        }
        tree.replace(row..<(row + 1), by: HeightRun(height: height))
        while tree.runs > Self.runLimit { forgetFarthest(from: row) }
    }

    package mutating func insert(_ count: Int, at row: Int) {
        if count > 0 { tree.insert(HeightRun(unmeasured: count), at: row) }
    }

    package mutating func remove(_ range: Range<Int>) {
        lastMean = mean
        if !range.isEmpty { tree.replace(range, by: nil) }
    }

    /// Forgets all heights, but not their mean, and starts again with so many rows.
    package mutating func reset(rows: Int) {
        lastMean = mean
        tree = HeightTree(unmeasured: rows)
    }

    private func pixels(_ sum: HeightTree.Sum) -> Double {
        Double(sum.pixels) + Double(sum.rows - sum.measured) * estimate
    }

    private mutating func forgetFarthest(from row: Int) {
        guard let first = tree.measuredRun(last: false), let last = tree.measuredRun(last: true) else { return }
        let farthest = row - first.lowerBound > last.lowerBound - row ? first : last
        tree.replace(farthest, by: HeightRun(unmeasured: farthest.count))
    }
}
