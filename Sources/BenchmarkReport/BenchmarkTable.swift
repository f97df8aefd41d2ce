import Foundation

/// A table that is printed while it grows, so that one who stops a long run keeps what was measured until then.
public struct BenchmarkTable {
    private let nameWidth: Int
    private var rows: [BenchmarkRow] = []

    /// - Parameter nameWidth: characters of the first column; longer names push the others to the right.
    public init(nameWidth: Int) {
        self.nameWidth = nameWidth
    }

    /// Prints rows as they are measured.
    public mutating func add(_ new: [BenchmarkRow]) {
        for row in new { print(row.line(widths: [nameWidth, 12, 12, 10])) }
        fflush(nil)
        rows += new
    }

    public mutating func add(_ row: BenchmarkRow) { add([row]) }

    /// Prints a line of JSON for each row, and then which targets are missed.
    /// - Returns: whether all targets are met.
    public func finish() -> Bool {
        for row in rows { print(row.json) }
        let missed = rows.filter { !$0.holds }
        print("\(rows.count { $0.target != nil }) targets, \(missed.count) missed")
        for row in missed { print("missed: " + row.line(widths: [nameWidth, 12, 12, 10])) }
        return missed.isEmpty
    }
}
