/// One figure: printed as a row for people and as a line of JSON for machines.
struct BenchmarkRow {
    var name: String
    var value: Double
    var unit: String
    /// What the value must not exceed.
    var target: Double

    var holds: Bool { value <= target }

    var json: String {
        #"{"name":"\#(name)","value":\#(Self.number(value)),"unit":"\#(unit)","target":\#(Self.number(target)),"holds":\#(holds)}"#
    }

    var columns: [String] {
        [name, Self.number(value), unit, "≤ " + Self.number(target), holds ? "holds" : "MISSED"]
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String((value * 1000).rounded() / 1000)
    }

    /// The rows with their columns aligned.
    static func table(_ rows: [BenchmarkRow]) -> String {
        let lines = rows.map(\.columns)
        let widths = (0..<5).map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            zip(line, widths).map { text, width in text + String(repeating: " ", count: width - text.count) }
                .joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
