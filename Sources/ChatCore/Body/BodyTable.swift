/// A table. Rows may differ in length.
public struct BodyTable: Hashable, Sendable {
    public enum Alignment: String, Hashable, Sendable {
        case start, center, end
    }

    public struct Cell: Hashable, Sendable {
        public var text: InlineText
        public var isHeader: Bool
        public var alignment: Alignment

        public init(_ text: InlineText, isHeader: Bool = false, alignment: Alignment = .start) {
            self.text = text
            self.isHeader = isHeader
            self.alignment = alignment
        }
    }

    /// The maximum number of cells shown, since each is a widget.
    public static let maxDisplayedCells = 600

    public var caption: InlineText
    public var rows: [[Cell]]

    /// The rows that are shown.
    public var displayedRows: [[Cell]] {
        var remaining = Self.maxDisplayedCells
        return rows.prefix { row in
            remaining -= row.count
            return remaining >= 0
        }.map { $0 }
    }

    public init(caption: InlineText = InlineText(), rows: [[Cell]]) {
        self.caption = caption
        self.rows = rows
    }
}
