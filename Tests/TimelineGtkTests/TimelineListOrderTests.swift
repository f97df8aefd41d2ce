import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit
@testable import TimelineGtk

/// The order of the rows among the list's children, and what scrolling must not change.
final class TimelineListOrderTests: GtkTestCase {
    /// When a child is moved or hidden, GTK restyles all later children.
    func testScrollMovesAndHidesNoChild() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 25, count: 1000))
            // However long the steps take, the list must not rest meanwhile.
            XCTAssertTrue(MainLoop.pump { bench.list.isInOrder })
            bench.list.layout.realized.order.restTime = .seconds(3600)
            for _ in 0..<60 { Self.step(bench, by: -79) }
            let before = bench.widget.children.map(\.pointer)
            let bound = bench.list.statistics.bindings
            for _ in 0..<10 { Self.step(bench, by: -79) }
            XCTAssertGreaterThan(bench.list.statistics.bindings, bound + 20, "rows were recycled")
            XCTAssertEqual(bench.widget.children.map(\.pointer), before)
            XCTAssertTrue(bench.widget.children.allSatisfy(\.isVisible))
            XCTAssertFalse(bench.list.isInOrder)
            bench.close()
        }
    }

    /// Assistive technology reads the children in order and skips hidden ones.
    func testChildrenAreInRowOrderOnceTheListRests() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 25, count: 1000))
            for pixels in [-79.0, 79, -600, 300] {
                for _ in 0..<20 { Self.step(bench, by: pixels) }
                Self.checkOrder(bench)
            }
            bench.close()
        }
    }

    func testChildrenComeIntoOrderAlthoughTheListNeverRests() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 25, count: 1000))
            Self.step(bench, by: -300)
            var steps = 0
            let moved = MainLoop.pump {
                if bench.list.isInOrder { return true }
                steps += 1
                // Not until the list is idle: the order would come and go meanwhile.
                bench.scroll(by: steps.isMultiple(of: 2) ? 300 : -300)
                bench.layOut()
                return false
            }
            XCTAssertTrue(moved)
            bench.close()
        }
    }

    func testAsFewChildrenAsPossibleAreMoved() {
        onMain {
            XCTAssertEqual(ChildOrder.staying([]), [])
            XCTAssertEqual(ChildOrder.staying([4, 0, 1, 2, 3]), [false, true, true, true, true])
            XCTAssertEqual(ChildOrder.staying([1, 2, 3, 4, 0]), [true, true, true, true, false])
            XCTAssertEqual(ChildOrder.staying([2, 0, 1]).count { $0 }, 2)
            XCTAssertEqual(ChildOrder.staying([3, 2, 1, 0]).count { $0 }, 1)
            for seed in 0..<50 {
                let positions = (0..<7).map { ($0 * 5 + seed * seed + $0 * $0 * seed) % 97 * 10 + $0 }
                let stays = ChildOrder.staying(positions)
                let left = zip(positions, stays).filter(\.1).map(\.0)
                XCTAssertEqual(left, left.sorted(), "\(positions)")
                XCTAssertEqual(left.count, Self.longestAscent(positions), "\(positions)")
            }
        }
    }

    /// GTK updates the hovered widget only some time after a scroll.
    func testRowStaysMappedUntilThePointerHasLeftIt() throws {
        try onMain {
            let bench = TimelineListBench.reading()
            let row = try XCTUnwrap(bench.list.layout.rowsInView.last)
            gtk_widget_set_state_flags(row.widget.cast(), GTK_STATE_FLAG_PRELIGHT, 0)
            Self.step(bench, by: -Double(row.height) - 20)
            XCTAssertFalse(bench.list.layout.isInView(row))
            XCTAssertTrue(row.widget.isMapped)
            gtk_widget_unset_state_flags(row.widget.cast(), GTK_STATE_FLAG_PRELIGHT)
            Self.step(bench, by: -1)
            XCTAssertFalse(row.widget.isMapped)
            bench.close()
        }
    }

    /// A test fails if GTK could not render a widget, see `GtkTestCase`.
    func testPartsOfRecycledRowsAreAllocated() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 25, count: 10))
            let source = PartSource()
            bench.list.source = source
            bench.waitUntilIdle()
            for step in 0..<60 {
                bench.scroll(by: step < 40 ? -260 : 260)
                bench.waitUntilIdle()
            }
            XCTAssertLessThan(bench.list.statistics.made, 200, "rows were recycled")
            bench.close()
        }
    }

    // MARK: Helpers

    /// Rows of equal size, with a part that moves when the row is bound to another item.
    @MainActor
    private final class PartSource: TimelineListSource {
        final class PartRow: TimelineListRow {
            let widget: Widget
            let part: Widget

            init(widget: Widget, part: Widget) {
                self.widget = widget
                self.part = part
            }
        }

        let count = 500
        func key(at index: Int) -> AnyHashable { index }
        func index(of key: AnyHashable) -> Int? { key.base as? Int }
        func kind(at index: Int) -> Int { 0 }

        func makeRow(kind: Int) -> any TimelineListRow {
            let (outer, inner, part) = (Box(.vertical), Box(.vertical), TestRowImplementation.make())
            inner.append(part)
            outer.append(inner)
            return PartRow(widget: outer, part: part)
        }

        func bind(_ row: any TimelineListRow, at index: Int) { (row as? PartRow)?.part.queueAllocate() }
    }

    @MainActor
    private static func step(_ bench: TimelineListBench, by pixels: Double) {
        bench.scroll(by: pixels)
        bench.layOut()
        bench.becomeIdle()
    }

    @MainActor
    private static func checkOrder(_ bench: TimelineListBench, line: UInt = #line) {
        XCTAssertTrue(MainLoop.pump { bench.list.isInOrder }, line: line)
        let shown = bench.widget.children.filter(\.isVisible).map(\.pointer)
        XCTAssertEqual(shown, bench.list.layout.realized.rows.map(\.widget.pointer), line: line)
    }

    @MainActor
    private static func longestAscent(_ positions: [Int]) -> Int {
        var lengths: [Int] = []
        for (index, position) in positions.enumerated() {
            let before = (0..<index).filter { positions[$0] < position }.map { lengths[$0] }.max() ?? 0
            lengths.append(before + 1)
        }
        return lengths.max() ?? 0
    }
}
