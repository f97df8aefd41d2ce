/// A measurement, printed as a table row and as a line of JSON.
public struct BenchmarkRow {
    public var name: String
    public var value: Double
    public var unit: String
    /// The maximum or, with ``isMinimum``, the minimum of the value; `nil` for a value without a target.
    public var target: Double?
    /// Whether the target is a minimum.
    public var isMinimum: Bool

    public init(name: String, value: Double, unit: String, target: Double? = nil, isMinimum: Bool = false) {
        self.name = name
        self.value = value
        self.unit = unit
        self.target = target
        self.isMinimum = isMinimum
    }

    public var holds: Bool { target.map { isMinimum ? value >= $0 : value <= $0 } ?? true }

    public var json: String {
        let target = target.map(Self.number) ?? "null"
        return
            #"{"name":"\#(name)","value":\#(Self.number(value)),"unit":"\#(unit)","target":\#(target),"holds":\#(holds)}"#
    }

    private var columns: [String] {
        let result = target == nil ? "" : holds ? "holds" : "MISSED"
        let bound = target.map { (isMinimum ? "≥ " : "≤ ") + Self.number($0) } ?? ""
        return [name, Self.number(value), unit, bound, result]
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String((value * 1000).rounded() / 1000)
    }

    /// Returns the table row, with its columns padded to widths in characters.
    func line(widths: [Int]) -> String {
        let padded = zip(columns, widths).map { text, width in
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        return (padded + columns.dropFirst(widths.count)).joined(separator: "  ")
    }

    /// Prints the rows with aligned columns, then a line of JSON for each.
    /// - Returns: whether all targets are met.
    public static func report(_ rows: [BenchmarkRow]) -> Bool {
        let widths = (0..<5).map { column in rows.map { $0.columns[column].count }.max() ?? 0 }
        for row in rows { print(row.line(widths: widths)) }
        for row in rows { print(row.json) }
        return rows.allSatisfy(\.holds)
    }
}
