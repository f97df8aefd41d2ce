import CGtk
import GtkKit

/// A bottom-anchored column of rows that scrolls.
///
/// Its truth is an anchor: the end, or a row and how far its bottom edge is below the viewport's. The adjustment is
/// derived from the anchor in every layout, so nothing that changes above or below the reader moves what is read;
/// only scrolling by the user moves the anchor. All rows are kept as widgets: right for some hundred of them.
final class TimelineBox: ScrollableImplementation {
    /// What stays where it is.
    enum Anchor {
        case end
        /// `below`: pixels from the viewport's bottom down to the row's bottom edge.
        case row(Widget, below: Double)
    }

    private struct Placement {
        var top: Double
        var bottom: Double
    }

    /// The widest that rows get, in pixels: as wide as the composer inside its margins.
    static let maximumRowWidth = 796

    override class var typeName: String { "ParlanceTimelineBox" }
    override class var cssName: String { "timeline" }
    override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_LOG }

    /// Called after a layout or scrolling, when the position may have changed.
    var onPositionChange: (() -> Void)?

    private(set) var rows: [Widget] = []
    private var anchor = Anchor.end
    private var placements: [UnsafeMutableRawPointer: Placement] = [:]
    private var viewportHeight = 0.0
    private var contentHeight = 0.0

    required init(pointer: UnsafeMutableRawPointer) {
        super.init(pointer: pointer)
        gtk_widget_set_overflow(cast(), GTK_OVERFLOW_HIDDEN)
    }

    var isAtEnd: Bool {
        if case .end = anchor { true } else { false }
    }

    /// Pixels of content above the viewport.
    var distanceFromTop: Double { verticalAdjustment?.value ?? 0 }

    // MARK: Rows

    /// Makes the rows these, in this order. Rows that stay keep their place on the screen.
    func setRows(_ newRows: [Widget]) {
        let kept = Set(newRows.map(\.pointer))
        if case .row(let row, _) = anchor, !kept.contains(row.pointer) { anchor = survivingAnchor(kept) }
        for row in rows where !kept.contains(row.pointer) {
            placements[row.pointer] = nil
            gtk_widget_unparent(row.cast())
        }
        var previous: Widget?
        for row in newRows {
            if gtk_widget_get_parent(row.cast()) == nil {
                gtk_widget_insert_after(row.cast(), cast(), previous?.cast())
            } else if gtk_widget_get_prev_sibling(row.cast()) != previous?.cast() {
                gtk_widget_insert_after(row.cast(), cast(), previous?.cast())
            }
            previous = row
        }
        rows = newRows
        gtk_widget_queue_resize(cast())
    }

    /// The row nearest to the anchor among those that stay, where it is now.
    private func survivingAnchor(_ kept: Set<UnsafeMutableRawPointer>) -> Anchor {
        guard case .row(let lost, _) = anchor, let index = rows.firstIndex(where: { $0.isSame(as: lost) }) else {
            return .end
        }
        let later = rows[index...].first { kept.contains($0.pointer) }
        guard let row = later ?? rows[..<index].last(where: { kept.contains($0.pointer) }),
            let place = placements[row.pointer]
        else { return .end }
        return .row(row, below: place.bottom - distanceFromTop - viewportHeight)
    }

    // MARK: Scrolling

    func scrollToEnd() {
        anchor = .end
        gtk_widget_queue_allocate(cast())
    }

    func scrollToTop() {
        verticalAdjustment?.value = 0
    }

    /// Scrolls as little as needed for the row to be in view.
    func reveal(_ row: Widget) {
        guard let place = placements[row.pointer], let adjustment = verticalAdjustment else { return }
        if place.top < adjustment.value {
            adjustment.value = place.top
        } else if place.bottom > adjustment.value + viewportHeight {
            adjustment.value = place.bottom - viewportHeight
        }
    }

    override func scrolled(to value: Double) {
        if value >= contentHeight - viewportHeight - 1 {
            anchor = .end
        } else {
            let bottom = value + viewportHeight
            // The lowest row that is wholly in view, or else the one that fills it.
            let row =
                rows.last { placements[$0.pointer].map { $0.bottom <= bottom && $0.bottom > value } ?? false }
                ?? rows.first { placements[$0.pointer].map { $0.bottom > value } ?? false }
            guard let row, let place = placements[row.pointer] else { return }
            anchor = .row(row, below: place.bottom - bottom)
        }
        gtk_widget_queue_allocate(cast())
        onPositionChange?()
    }

    // MARK: Layout

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        switch orientation {
        case .vertical: return SizeRequest(minimum: 0, natural: Int(contentHeight))
        case .horizontal:
            var (widest, natural): (Int32, Int32) = (0, 0)
            for row in rows where row.isVisible {
                var (least, most): (Int32, Int32) = (0, 0)
                gtk_widget_measure(row.cast(), GTK_ORIENTATION_HORIZONTAL, -1, &least, &most, nil, nil)
                widest = max(widest, least)
                natural = max(natural, most)
            }
            return SizeRequest(minimum: Int(widest), natural: min(Int(natural), Self.maximumRowWidth))
        }
    }

    override func allocate(width: Int, height: Int) {
        let rowWidth = Int32(min(width, Self.maximumRowWidth))
        var heights: [Int32] = []
        heights.reserveCapacity(rows.count)
        for row in rows {
            var natural: Int32 = 0
            gtk_widget_measure(row.cast(), GTK_ORIENTATION_VERTICAL, rowWidth, nil, &natural, nil, nil)
            heights.append(natural)
        }
        viewportHeight = Double(height)
        let total = Double(heights.reduce(0, +))
        contentHeight = max(total, viewportHeight)
        // Short content lies at the bottom.
        var top = contentHeight - total
        for (row, height) in zip(rows, heights) {
            placements[row.pointer] = Placement(top: top, bottom: top + Double(height))
            top += Double(height)
        }
        let value = anchoredValue()
        configure(value: value, upper: contentHeight, pageSize: viewportHeight)
        place(heights, x: (Int32(width) - rowWidth) / 2, width: rowWidth, value: value)
        onPositionChange?()
    }

    private func anchoredValue() -> Double {
        let largest = contentHeight - viewportHeight
        switch anchor {
        case .end: return largest
        case .row(let row, let below):
            guard let place = placements[row.pointer] else { return largest }
            return min(max(0, place.bottom - below - viewportHeight), largest)
        }
    }

    private func place(_ heights: [Int32], x: Int32, width: Int32, value: Double) {
        for (row, height) in zip(rows, heights) {
            guard let place = placements[row.pointer] else { continue }
            var rectangle = GdkRectangle(
                x: x, y: Int32((place.top - value).rounded()), width: width, height: height)
            gtk_widget_size_allocate(row.cast(), &rectangle, -1)
        }
    }

    override func snapshot(_ snapshot: OpaquePointer) {
        let (value, end) = (distanceFromTop, distanceFromTop + viewportHeight)
        for row in rows {
            guard let place = placements[row.pointer], place.bottom > value, place.top < end else { continue }
            gtk_widget_snapshot_child(cast(), row.cast(), snapshot)
        }
    }

    override func dispose() {
        super.dispose()
        rows = []
        placements = [:]
        anchor = .end
        onPositionChange = nil
    }
}
