import Foundation

/// A table that prints each row as it is measured, so that an interrupted run keeps its results.
public struct BenchmarkTable {
    private let nameWidth: Int
    private var rows: [BenchmarkRow] = []

    /// - Parameter nameWidth: the width of the first column in characters; longer names push the other columns right.
    public init(nameWidth: Int) {
        self.nameWidth = nameWidth
    }

    /// Prints rows and adds them to the final report.
    public mutating func add(_ new: [BenchmarkRow]) {
        for row in new { print(row.line(widths: [nameWidth, 12, 12, 10])) }
        fflush(nil)
        rows += new
    }

    public mutating func add(_ row: BenchmarkRow) { add([row]) }

    /// Prints a line of JSON for each row, then the missed targets.
    /// - Returns: whether all targets are met.
    public func finish() -> Bool {
        for row in rows { print(row.json) }
        let missed = rows.filter { !$0.holds }
        print("\(rows.count { $0.target != nil }) targets, \(missed.count) missed")
        for row in missed { print("missed: " + row.line(widths: [nameWidth, 12, 12, 10])) }
        return missed.isEmpty
    }
}
