/// Rows that follow each other, either all of them measured or none.
nonisolated struct HeightRun {
    /// The most measured rows that one run holds.
    static let capacity = 1024
    private static let maxCompactHeight = Int(UInt16.max)

    private(set) var rows: Int
    /// The sum of the measured heights, in pixels; 0 if not measured.
    private(set) var pixels: Int
    /// Two bytes a row; empty if not measured.
    private var heights: [UInt16]
    /// The heights that do not fit in two bytes, by their place in the run.
    private var tall: [Int: Int]?

    /// Rows whose heights are not known.
    init(unmeasured rows: Int) {
        self.rows = rows
        pixels = 0
        heights = []
    }

    /// One row of a known height in pixels.
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

    /// The heights of the first `count` rows of a measured run together, in pixels.
    func pixels(before count: Int) -> Int {
        if count == rows { return pixels }
        var sum = 0
        for row in 0..<count { sum += height(at: row) }
        return sum
    }

    /// The row of a measured run that covers `offset` pixels from its top: the last one if none does.
    func row(at offset: Double) -> Int {
        var top = 0
        for row in 0..<rows {
            top += height(at: row)
            if Double(top) > offset { return row }
        }
        return rows - 1
    }

    /// Remembers another height of a measured row, in pixels.
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

    /// Whether the rows of both may be one run.
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
            // By a quarter: an array by itself doubles, which would be two bytes more for each row.
            heights.reserveCapacity(min(rows * 5 / 4, Self.capacity))
        }
        heights += next.heights
    }

    /// The first `row` rows and the others.
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
