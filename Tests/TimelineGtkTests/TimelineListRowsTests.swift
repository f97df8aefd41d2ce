import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit
@testable import TimelineGtk

/// Row widgets: how many are realized, their cost, and keyboard focus.
final class TimelineListRowsTests: GtkTestCase {
    func testWidgetsAreFewAndRecycled() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 25, count: 100_000))
            let inView = Int(bench.height / 25)
            for step in 0..<200 {
                bench.scroll(by: step % 50 == 49 ? -500_000 : -90)
                bench.layOut()
                if step % 5 == 0 { bench.becomeIdle() }
                XCTAssertLessThanOrEqual(bench.list.statistics.widgets, 3 * inView + 20)
            }
            XCTAssertGreaterThan(bench.list.statistics.bindings, 500)
            XCTAssertLessThan(bench.list.statistics.made, 3 * inView + 60, "made once, used again")
            bench.close()
        }
    }

    /// With pauses between wheel notches, rows are measured ahead of time, not in a layout, and passed rows are
    /// released.
    func testRowsMeasuredAheadAreReleased() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 25, count: 1000))
            let inView = Int(bench.height / 25)
            for step in 0..<400 {
                bench.scroll(by: step < 200 ? -79 : 79)
                bench.layOut()
                bench.becomeIdle()
                XCTAssertLessThanOrEqual(bench.list.statistics.widgets, 3 * inView + 20)
            }
            XCTAssertLessThan(bench.list.statistics.made, 3 * inView + 60, "made once, used again")
            bench.close()
        }
    }

    /// Replaced rows reuse the widgets of the former ones, and the list behaves like a new one.
    func testOtherRowsTakeOverTheWidgets() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 25, count: 1000))
            bench.becomeIdle()
            bench.list.scrollToStart()
            bench.layOut()
            bench.becomeIdle()
            XCTAssertTrue(bench.list.focus(bench.source.keys[3]))
            bench.list.moreRows = [.start]
            let made = bench.list.statistics.made
            bench.source.show([])
            XCTAssertEqual(bench.list.count, 0)
            XCTAssertTrue(bench.list.realizedRows.isEmpty)
            XCTAssertNil(bench.list.focusedRow)
            XCTAssertTrue(bench.list.moreRows.isEmpty)
            bench.layOut()
            bench.becomeIdle()
            bench.source.insert(Array(repeating: 25, count: 500), at: 0)
            bench.waitUntilIdle()
            bench.becomeIdle()
            XCTAssertEqual(bench.list.position, .end)
            XCTAssertEqual(bench.list.visibleRows.upperBound, 500)
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height, "at the end, whatever the position was")
            XCTAssertLessThanOrEqual(bench.list.statistics.made, made + 3, "one at most of each kind was made for them")
            XCTAssertTrue(MainLoop.pump { bench.list.isInOrder })
            bench.source.show(Array(repeating: 60, count: 3))
            bench.waitUntilIdle()
            bench.becomeIdle()
            XCTAssertEqual(bench.list.visibleRows, 0..<3)
            XCTAssertEqual(bench.list.distanceFromStart, 0)
            XCTAssertLessThanOrEqual(bench.list.statistics.widgets, 3 + 12, "the pool is bounded")
            bench.close()
        }
    }

    /// When all rows change, visible ones are bound for the next frame, and the others when the main loop is idle.
    func testChangedRowsOutOfViewAreBoundInIdleTime() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 25, count: 1000))
            bench.scroll(by: -5000)
            bench.layOut()
            bench.becomeIdle()
            let inView = bench.list.visibleRows.count
            let (before, realized) = (bench.list.statistics.bindings, bench.list.realizedRows.count)
            XCTAssertGreaterThan(realized, 2 * inView)
            bench.list.update(at: 0, count: 1000)
            bench.layOut()
            XCTAssertEqual(bench.list.statistics.bindings - before, inView)
            bench.becomeIdle()
            XCTAssertEqual(bench.list.realizedRows.count, realized)
            XCTAssertEqual(bench.list.statistics.bindings - before, realized)
            bench.close()
        }
    }

    /// A non-overlay scrollbar reduces the width; rows are measured for the reduced width only.
    func testNonOverlayScrollbarCausesNoSecondLayout() {
        onMain {
            var costs: [Int] = []
            let bench = TimelineListBench(TimelineListBench.heights(1000), width: 900)
            for isOver in [true, false] {
                gtk_scrolled_window_set_overlay_scrolling(bench.scroller.cast(), isOver ? 1 : 0)
                // The scrollbar takes several frames to appear.
                var width = 0
                while width != bench.list.layout.viewport.rowWidth {
                    width = bench.list.layout.viewport.rowWidth
                    for _ in 0..<5 { bench.waitUntilIdle() }
                }
                XCTAssertEqual(width == 900, isOver)
                bench.list.scrollToEnd()
                bench.waitUntilIdle()
                bench.becomeIdle()
                let before = TestRowImplementation.layouts
                for _ in 0..<20 {
                    bench.scroll(by: -400)
                    bench.waitUntilIdle()
                    bench.becomeIdle()
                }
                costs.append(TestRowImplementation.layouts - before)
            }
            XCTAssertEqual(costs[1], costs[0], "text layouts beside a scrollbar and under one")
            XCTAssertGreaterThan(bench.list.layout.index.measuredRows, 160, "what was measured stays known")
            bench.close()
        }
    }

    func testEachBoundRowIsLaidOutOnce() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(1000))
            bench.becomeIdle()
            let (layouts, bindings) = (TestRowImplementation.layouts, bench.list.statistics.bindings)
            for _ in 0..<40 {
                bench.scroll(by: -159)
                bench.layOut()
                bench.becomeIdle()
            }
            let bound = bench.list.statistics.bindings - bindings
            XCTAssertGreaterThan(bound, 100)
            XCTAssertEqual(TestRowImplementation.layouts - layouts, bound)
            bench.close()
        }
    }

    func testUpcomingRowsAreMeasuredWhenIdle() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(1000))
            bench.becomeIdle()
            let first = bench.list.visibleRows.lowerBound
            let ahead = bench.list.layout.realized.rows.filter { $0.index < first }
            XCTAssertGreaterThan(ahead.reduce(0) { $0 + $1.height }, Int(bench.height * 0.9))
            XCTAssertTrue(ahead.allSatisfy { gtk_widget_get_mapped($0.widget.cast()) == 0 }, "not drawn")
            let bindings = bench.list.statistics.bindings
            bench.scroll(by: -0.8 * bench.height)
            bench.layOut()
            XCTAssertEqual(bench.list.statistics.bindings, bindings, "a page is ready")
            bench.close()
        }
    }

    func testNothingIsPaintedWhenIdle() {
        onMain {
            let bench = TimelineListBench.reading()
            bench.becomeIdle()
            bench.waitUntilIdle()
            let clock = Object(borrowing: UnsafeMutableRawPointer(gtk_widget_get_frame_clock(bench.widget.cast())))
            // Use a permanent scrollbar: an overlay scrollbar paints frames while it fades out.
            gtk_scrolled_window_set_overlay_scrolling(bench.scroller.cast(), 0)
            bench.waitUntilIdle()
            _ = MainLoop.pump(forAtMost: 1.5) { false }
            var frames = 0
            let connection = clock.connect("paint") { _ in frames += 1 }
            _ = MainLoop.pump(forAtMost: 0.5) { false }
            XCTAssertEqual(frames, 0)
            connection.disconnect()
            bench.close()
        }
    }

    /// Assistive technology reads the children in order and skips invisible ones.
    func testChildrenAreInRowOrder() {
        onMain {
            let bench = TimelineListBench.reading()
            let source = bench.source
            source.insert([20, 30], at: bench.list.visibleRows.lowerBound + 1)
            bench.waitUntilIdle()
            bench.scroll(by: -333)
            bench.waitUntilIdle()
            source.replace(source.keys.filter { $0 % 5 != 0 })
            bench.waitUntilIdle()
            bench.becomeIdle()
            XCTAssertTrue(MainLoop.pump { bench.list.isInOrder })
            let shown = bench.widget.children.filter(\.isVisible).map(\.pointer)
            XCTAssertEqual(shown, bench.list.layout.realized.rows.map(\.widget.pointer))
            XCTAssertEqual(
                bench.list.layout.realized.rows.map(\.index), bench.list.layout.realized.rows.map(\.index).sorted())
            for row in bench.list.layout.realized.rows {
                XCTAssertEqual((row.row as? TestRow)?.key, source.keys[row.index])
                XCTAssertEqual(
                    gtk_accessible_get_accessible_role(row.widget.cast()), GTK_ACCESSIBLE_ROLE_LIST_ITEM)
            }
            XCTAssertEqual(gtk_accessible_get_accessible_role(bench.widget.cast()), GTK_ACCESSIBLE_ROLE_LOG)
            bench.close()
        }
    }

    func testWideListCentersItsRows() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(50), width: 600) { $0.maxRowWidth = 400 }
            let row = bench.list.row(for: bench.lastKey)?.widget
            let place = row?.bounds(in: bench.widget)
            XCTAssertEqual(place?.width, 400)
            XCTAssertEqual(place?.x, Double((bench.widget.width - 400) / 2))
            bench.close()
        }
    }

    // MARK: Focus

    func testArrowKeysMoveBetweenFocusableRows() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(300))
            let last = bench.lastKey
            bench.source.unfocusable = [last - 2]
            XCTAssertTrue(bench.widget.grabFocus())
            XCTAssertEqual(bench.list.focusedRow, 299)
            var left: [TimelineListEdge] = []
            bench.list.onFocusLeaves = {
                left.append($0)
                return true
            }
            bench.key(GTK_DIR_DOWN)
            XCTAssertEqual(left, [.end])
            bench.key(GTK_DIR_UP)
            bench.key(GTK_DIR_UP)
            XCTAssertEqual(bench.list.focusedRow, 296)
            // Move the focus far beyond the realized rows, step by step.
            for _ in 0..<100 {
                bench.key(GTK_DIR_UP)
                bench.layOut()
            }
            XCTAssertEqual(bench.list.focusedRow, 196)
            XCTAssertEqual(bench.top(196), 0, "scrolled no farther than needed")
            bench.close()
        }
    }

    func testFocusedRowKeepsItsWidget() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(3000))
            bench.list.focus(2990)
            let widget = bench.list.row(for: 2990)?.widget
            bench.scroll(by: -80_000)
            bench.waitUntilIdle()
            bench.becomeIdle()
            XCTAssertEqual(bench.list.focusedRow, 2990)
            XCTAssertEqual(bench.list.row(for: 2990)?.widget.pointer, widget?.pointer)
            XCTAssertFalse(bench.list.visibleRows.contains(2990))
            XCTAssertLessThan(bench.list.statistics.widgets, 100)
            bench.list.scroll(to: 2985, at: .start)
            bench.waitUntilIdle()
            XCTAssertTrue(bench.list.visibleRows.contains(2990))
            XCTAssertEqual(bench.list.row(for: 2990)?.widget.pointer, widget?.pointer)
            bench.close()
        }
    }

    func testRemovingTheFocusedRowFocusesItsNeighbor() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(100))
            bench.list.focus(97)
            bench.source.remove(at: 97, count: 1)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.list.focusedRow, 97)
            XCTAssertEqual(bench.source.keys[97], 98)
            bench.close()
        }
    }
}

extension TimelineListBench {
    /// Moves the focus as an arrow key does.
    func key(_ direction: GtkDirectionType) { _ = gtk_widget_child_focus(widget.cast(), direction) }
}
