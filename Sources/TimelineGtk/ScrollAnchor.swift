/// What a ``TimelineList`` keeps in place while rows come, go and change their heights elsewhere.
nonisolated enum ScrollAnchor: Equatable {
    /// The last row's bottom edge at the viewport's bottom.
    case end
    /// A row's edge, and its distance downward from the same edge of the viewport, in pixels.
    case row(Int, TimelineListEdge, Double)
    /// The row's center at the viewport's center.
    case center(Int)

    /// Stands for the last row, however many there will be.
    static let lastRow = Int.max

    /// The index of the anchored row, or `nil` for the end.
    var row: Int? {
        switch self {
        case .end: nil
        case .row(let row, _, _), .center(let row): row
        }
    }

    /// The index of the anchored row among `rows` rows, or 0 if there are none.
    func row(among rows: Int) -> Int { max(0, min(row ?? rows - 1, rows - 1)) }

    /// The distance from the viewport's top to the anchored row's top, in pixels.
    /// - Parameters:
    ///   - height: The row's height.
    ///   - heightBefore: The row's height before it was rewrapped, if it was. A row that is partly out of view keeps
    ///     the same fraction of it out of view.
    ///   - page: The viewport's height.
    func top(height: Double, heightBefore: Double? = nil, page: Double) -> Double {
        func rewrapped(_ offset: Double) -> Double {
            guard let heightBefore, heightBefore > 0 else { return offset }
            return offset * height / heightBefore
        }
        return switch self {
        case .end: page - height
        case .center: (page - height) / 2
        case .row(_, .start, let offset): offset < 0 ? rewrapped(offset) : offset
        case .row(_, .end, let offset): page + (offset > 0 ? rewrapped(offset) : offset) - height
        }
    }

    /// The same anchor, on another row.
    func on(_ row: Int) -> ScrollAnchor {
        switch self {
        case .end: .end
        case .row(_, let edge, let offset): .row(row, edge, offset)
        case .center: .center(row)
        }
    }

    /// The anchor `pixels` further down, among `rows` rows. The center of the viewport stays where it is: hold a row's
    /// edge instead.
    func moved(by pixels: Double, among rows: Int) -> ScrollAnchor {
        switch self {
        case .end: .row(rows - 1, .end, pixels)
        case .row(let row, let edge, let offset): .row(row, edge, offset + pixels)
        case .center: self
        }
    }

    // MARK: Changes of the rows

    /// The anchor after `count` rows were inserted at `index`.
    func inserting(_ count: Int, at index: Int) -> ScrollAnchor {
        guard let row, row >= index, row != Self.lastRow else { return self }
        return on(row + count)
    }

    /// The anchor after the rows of `range` were removed, or `nil` if its row is one of them.
    func removing(_ range: Range<Int>) -> ScrollAnchor? {
        guard let row, row >= range.lowerBound, row != Self.lastRow else { return self }
        return range.contains(row) ? nil : on(row - range.count)
    }

    /// The anchor on one of `count` rows.
    func clamped(to count: Int) -> ScrollAnchor {
        guard let row, row != Self.lastRow else { return self }
        return on(max(0, min(row, count - 1)))
    }
}
