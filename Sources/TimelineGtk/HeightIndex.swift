/// Maps between row indices and vertical offsets, with estimated heights for rows not yet measured.
///
/// Stores two bytes per measured row and nothing for the others, whose height is estimated as the mean of the measured
/// ones. All operations are O(log n) in the number of runs.
nonisolated package struct HeightIndex {
    /// The estimated height of a row before any row has been measured, in pixels.
    package static let initialEstimate = 48.0
    /// The maximum number of runs. Beyond it, ``measure(_:height:)`` drops the measured run farthest from the row,
    /// which bounds memory however much of the list is visited.
    package static let runLimit = 3000

    private var tree = HeightTree()
    private var frozenEstimate: Double?
    private var lastMean = Self.initialEstimate

    package init() {}

    package var rows: Int { tree.sum.rows }
    package var measuredRows: Int { tree.sum.measured }
    package var runs: Int { tree.runs }

    /// The estimated height of an unmeasured row, in pixels.
    package var estimate: Double { frozenEstimate ?? mean }

    private var mean: Double {
        let sum = tree.sum
        return sum.measured == 0 ? lastMean : Double(sum.pixels) / Double(sum.measured)
    }

    /// While set, measuring does not change ``estimate``, so that the scrollbar's thumb stays under the pointer.
    package var isEstimateFrozen: Bool {
        get { frozenEstimate != nil }
        set { if newValue != isEstimateFrozen { frozenEstimate = newValue ? mean : nil } }
    }

    /// The height of all rows, in pixels.
    package var total: Double { pixels(tree.sum) }

    /// The height of a row in pixels, or `nil` if it has not been measured.
    package func height(of row: Int) -> Int? {
        let (run, rowInRun, _) = tree.locate(row: row)
        return run.isMeasured ? run.height(at: rowInRun) : nil
    }

    /// The distance from the top of the list to the top of `row`, in pixels.
    /// - Parameter row: In `0...rows`.
    package func offset(of row: Int) -> Double {
        guard row > 0 else { return 0 }
        guard row < rows else { return total }
        let (run, rowInRun, before) = tree.locate(row: row)
        return pixels(before) + (run.isMeasured ? Double(run.pixels(before: rowInRun)) : Double(rowInRun) * estimate)
    }

    /// The row at `offset` pixels from the top, clamped to the first and last row, or `nil` if the list is empty.
    package func row(at offset: Double) -> Int? {
        if offset < 0 { return rows > 0 ? 0 : nil }
        guard let (run, rest, before) = tree.locate(offset: offset, estimate: estimate) else { return nil }
        if run.isMeasured { return before + run.row(at: rest) }
        // With an estimate of 0, `locate` returns an unmeasured run only if it is the last and `offset` lies past the
        // end.
        let rowInRun = estimate > 0 ? min(rest / estimate, Double(run.rows - 1)) : Double(run.rows - 1)
        return before + Int(rowInRun)
    }

    /// Records a row's height in pixels.
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

    /// Drops all heights but their mean, and starts over with `rows` unmeasured rows.
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
