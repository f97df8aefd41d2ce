import CGtk
import GtkKit
import GtkTestSupport
import XCTest

@testable import ChatGtk

/// What is read stays where it is, to the pixel, whatever happens around it.
final class TimelineBoxTests: GtkTestCase {
    @MainActor
    private final class Bench {
        let scroller = ScrolledWindow(borrowing: gtk_scrolled_window_new())
        let list = TimelineBox.make()
        let box: TimelineBox
        let window: TestWindow
        private(set) var rows: [Widget] = []

        init(rows count: Int) {
            guard let box = TimelineBox.of(list) else { fatalError("no implementation") }
            self.box = box
            scroller.setChild(list)
            window = TestWindow(scroller, width: 300, height: 400)
            rows = (0..<count).map { Self.row(height: 20 + Int32($0 % 7) * 9) }
            show(rows)
        }

        static func row(height: Int32) -> Widget {
            let row = Label("row")
            gtk_widget_set_size_request(row.cast(), -1, height)
            return row
        }

        /// Sets the rows and waits for the layout.
        func show(_ rows: [Widget]) {
            self.rows = rows
            box.setRows(rows)
            settle()
        }

        func settle() {
            var frames = 0
            list.addTick {
                frames += 1
                return frames < 3
            }
            _ = MainLoop.pump { frames >= 3 }
        }

        func scroll(to value: Double) {
            scroller.verticalAdjustment.value = value
            settle()
        }

        func y(_ row: Widget) -> Double { row.bounds(in: scroller)?.y ?? .nan }
        func bottom(_ row: Widget) -> Double { row.bounds(in: scroller).map { $0.y + $0.height } ?? .nan }
        var adjustment: Adjustment { scroller.verticalAdjustment }
    }

    func testShortContentLiesAtTheBottom() {
        onMain {
            let bench = Bench(rows: 3)
            XCTAssertEqual(bench.bottom(bench.rows[2]), Double(bench.scroller.height))
            XCTAssertTrue(bench.box.isAtEnd)
            bench.window.close()
        }
    }

    func testOpensAtTheEndAndFollowsWhatIsAdded() {
        onMain {
            let bench = Bench(rows: 60)
            XCTAssertEqual(bench.bottom(bench.rows[59]), Double(bench.scroller.height))
            bench.show(bench.rows + [Bench.row(height: 90)])
            XCTAssertEqual(bench.bottom(bench.rows[60]), Double(bench.scroller.height))
            gtk_widget_set_size_request(bench.rows[60].cast(), -1, 300)
            bench.settle()
            XCTAssertEqual(bench.bottom(bench.rows[60]), Double(bench.scroller.height), "a row that grows at the end")
            bench.window.close()
        }
    }

    func testReadingPositionSurvivesEveryChangeAround() {
        onMain {
            let bench = Bench(rows: 80)
            bench.scroll(to: 900)
            XCTAssertFalse(bench.box.isAtEnd)
            guard let read = bench.rows.last(where: { bench.bottom($0) <= Double(bench.scroller.height) }) else {
                return XCTFail("no row in view")
            }
            let place = bench.y(read)
            let check: @MainActor (String) -> Void = { XCTAssertEqual(bench.y(read), place, accuracy: 1, $0) }
            bench.show((0..<30).map { _ in Bench.row(height: 33) } + bench.rows)
            check("prepending")
            bench.show(bench.rows + (0..<5).map { _ in Bench.row(height: 50) })
            check("appending")
            gtk_widget_set_size_request(bench.rows[2].cast(), -1, 400)
            bench.settle()
            check("a row above grows")
            gtk_widget_set_size_request(bench.rows[bench.rows.count - 2].cast(), -1, 300)
            bench.settle()
            check("a row below grows")
            bench.show(Array(bench.rows.dropFirst(10)))
            check("rows above go")
            bench.window.close()
        }
    }

    func testLosingTheRowThatIsReadKeepsItsNeighbour() {
        onMain {
            let bench = Bench(rows: 80)
            bench.scroll(to: 900)
            guard let index = bench.rows.lastIndex(where: { bench.bottom($0) <= Double(bench.scroller.height) }) else {
                return XCTFail("no row in view")
            }
            let next = bench.rows[index + 1]
            let place = bench.bottom(next)
            var rest = bench.rows
            rest.remove(at: index)
            bench.show(rest)
            XCTAssertEqual(bench.bottom(next), place, accuracy: 1)
            bench.window.close()
        }
    }

    func testTheEndStaysInViewWhenTheViewportShrinks() {
        onMain {
            let bench = Bench(rows: 60)
            gtk_window_set_default_size(bench.window.window.cast(), 300, 250)
            _ = MainLoop.pump { bench.scroller.height == 250 }
            bench.settle()
            XCTAssertEqual(bench.bottom(bench.rows[59]), Double(bench.scroller.height))
            bench.window.close()
        }
    }

    func testScrollingToTheEndFollowsAgain() {
        onMain {
            let bench = Bench(rows: 60)
            bench.scroll(to: 100)
            bench.box.scrollToEnd()
            bench.settle()
            XCTAssertTrue(bench.box.isAtEnd)
            XCTAssertEqual(bench.adjustment.value, bench.adjustment.upper - bench.adjustment.pageSize)
            bench.window.close()
        }
    }

    func testRevealScrollsNoMoreThanNeeded() {
        onMain {
            let bench = Bench(rows: 60)
            bench.scroll(to: 600)
            bench.box.reveal(bench.rows[3])
            bench.settle()
            XCTAssertEqual(bench.y(bench.rows[3]), 0, accuracy: 1)
            bench.box.reveal(bench.rows[50])
            bench.settle()
            XCTAssertEqual(bench.bottom(bench.rows[50]), Double(bench.scroller.height), accuracy: 1)
            bench.window.close()
        }
    }

    func testIsFinalisedWithItsRows() {
        onMain {
            var gone = 0
            do {
                let bench = Bench(rows: 5)
                bench.list.onFinalize { gone += 1 }
                bench.rows[0].onFinalize { gone += 1 }
                bench.window.close()
            }
            XCTAssertTrue(MainLoop.pump { gone == 2 })
        }
    }
}
