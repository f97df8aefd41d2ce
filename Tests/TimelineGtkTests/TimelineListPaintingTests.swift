import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit
@testable import TimelineGtk

/// Visible rows are painted, whatever else in the window is laid out in the same frame.
final class TimelineListPaintingTests: GtkTestCase {
    /// GTK 4.8 drops resizes that are queued during a layout: the conversation went blank when its rows first exceeded
    /// the viewport, because the composer and the overlays changed in the same frame.
    func testRowsAddedDuringLayoutArePainted() {
        onMain {
            for around in Around.allCases {
                let (overlay, above, below) = (Widget(sinking: gtk_overlay_new()), Label("0"), Label("0"))
                let (stack, column) = (Widget(sinking: gtk_stack_new()), Box(.vertical))
                let scroller = ScrolledWindow(sinking: gtk_scrolled_window_new())
                gtk_stack_add_named(stack.cast(), scroller.cast(), "rows")
                gtk_widget_set_vexpand(overlay.cast(), 1)
                gtk_overlay_set_child(overlay.cast(), stack.cast())
                gtk_overlay_add_overlay(overlay.cast(), above.cast())
                column.append(overlay)
                column.append(below)
                let bench = TimelineListBench([40], scroller: scroller, content: column)
                for step in 1...40 {
                    bench.source.insert([20 + step % 5 * 15], at: bench.source.count)
                    if around != .below { above.text = String(repeating: "x", count: step) }
                    if around != .above { below.text = String(repeating: "x", count: step % 3) }
                    if step % 7 == 0 { bench.scroll(by: -60) }
                    bench.waitUntilIdle()
                    XCTAssertEqual(Self.unpainted(bench), [], "\(around), \(step) rows more")
                }
                bench.close()
            }
        }
    }

    /// Which neighbor changes in the frame that adds a row.
    private enum Around: CaseIterable {
        case above, below, both
    }

    /// Scrolled row by row, each row is painted as it becomes visible.
    func testRowsScrolledIntoViewArePainted() {
        onMain {
            let (label, column) = (Label("0"), Box(.vertical))
            let scroller = ScrolledWindow(sinking: gtk_scrolled_window_new())
            gtk_widget_set_vexpand(scroller.cast(), 1)
            column.append(scroller)
            column.append(label)
            let bench = TimelineListBench(TimelineListBench.heights(200), scroller: scroller, content: column)
            for step in 1...60 {
                bench.scroll(by: step % 20 == 0 ? -2500 : step % 3 == 0 ? 130 : -170)
                label.text = String(repeating: "x", count: step % 4)
                bench.waitUntilIdle()
                XCTAssertEqual(Self.unpainted(bench), [], "step \(step)")
            }
            bench.close()
        }
    }

    /// Returns the keys of visible rows that were not painted since they were bound or moved into view.
    @MainActor
    private static func unpainted(_ bench: TimelineListBench) -> [Int] {
        bench.visibleKeys.filter { key in
            guard let row = bench.list.row(for: key) as? TestRow,
                let implementation = TestRowImplementation.of(row.widget)
            else {
                return true
            }
            return implementation.paintings == row.paintingsWhenBound
        }
    }
}
