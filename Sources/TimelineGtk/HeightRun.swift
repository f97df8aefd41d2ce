/// Consecutive rows that are either all measured or all unmeasured.
nonisolated struct HeightRun {
    /// The maximum number of rows in a measured run. Unmeasured runs are unlimited.
    static let capacity = 1024
    private static let maxCompactHeight = Int(UInt16.max)

    private(set) var rows: Int
    /// The sum of the measured heights, in pixels; 0 if unmeasured.
    private(set) var pixels: Int
    /// Empty if unmeasured. ``maxCompactHeight`` marks a row whose height is in ``tall``.
    private var heights: [UInt16]
    /// Heights that do not fit in 16 bits, by index in the run.
    private var tall: [Int: Int]?

    init(unmeasured rows: Int) {
        self.rows = rows
        pixels = 0
        heights = []
    }

    /// A run of one measured row.
    init(height: Int) {
        rows = 1
        pixels = 0
        heights = [0]
        set(0, to: height)
    }

    private init(heights: [UInt16], tall: [Int: Int]?) {
        rows = heights.count
        self.heights = heights
        self.tall = tall
        pixels = heights.reduce(0) { $0 + Int($1) }
        for height in (tall ?? [:]).values { pixels += height - Self.maxCompactHeight }
    }

    var isMeasured: Bool { !heights.isEmpty }

    /// The height of a measured row in pixels.
    func height(at row: Int) -> Int {
        let height = Int(heights[row])
        return height == Self.maxCompactHeight ? tall?[row] ?? height : height
    }

    /// The total height of the first `count` rows of a measured run, in pixels.
    func pixels(before count: Int) -> Int {
        if count == rows { return pixels }
        var sum = 0
        for row in 0..<count { sum += height(at: row) }
        return sum
    }

    /// The row of a measured run at `offset` pixels from its top, clamped to the last row.
    func row(at offset: Double) -> Int {
        var top = 0
        for row in 0..<rows {
            top += height(at: row)
            if Double(top) > offset { return row }
        }
        return rows - 1
    }

    /// Changes the height of a measured row, in pixels.
    mutating func set(_ row: Int, to height: Int) {
        pixels += height - self.height(at: row)
        heights[row] = UInt16(clamping: height)
        if height >= Self.maxCompactHeight {
            tall = tall ?? [:]
            tall?[row] = height
        } else if tall != nil {
            tall?[row] = nil
            if tall?.isEmpty == true { tall = nil }
        }
    }

    /// Whether both runs can be merged into one.
    func canJoin(_ next: HeightRun) -> Bool {
        isMeasured == next.isMeasured && (!isMeasured || rows + next.rows <= Self.capacity)
    }

    mutating func append(_ next: HeightRun) {
        for (row, height) in next.tall ?? [:] {
            tall = tall ?? [:]
            tall?[rows + row] = height
        }
        rows += next.rows
        pixels += next.pixels
        if heights.capacity < rows {
            // Grow by a quarter: Array's default doubling would waste up to two bytes per row.
            heights.reserveCapacity(min(rows * 5 / 4, Self.capacity))
        }
        heights += next.heights
    }

    /// Splits the run into its first `row` rows and the rest.
    func split(at row: Int) -> (HeightRun, HeightRun) {
        guard isMeasured else { return (HeightRun(unmeasured: row), HeightRun(unmeasured: rows - row)) }
        let before = tall?.filter { $0.key < row }
        let after = tall.map { tall in
            Dictionary(uniqueKeysWithValues: tall.filter { $0.key >= row }.map { ($0.key - row, $0.value) })
        }
        return (
            HeightRun(heights: Array(heights[..<row]), tall: before?.isEmpty == false ? before : nil),
            HeightRun(heights: Array(heights[row...]), tall: after?.isEmpty == false ? after : nil)
        )
    }
}
