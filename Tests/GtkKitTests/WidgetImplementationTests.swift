import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit

/// Lays its children out in a row of 10 px squares and counts its virtual calls.
@MainActor
final class SquaresImplementation: WidgetImplementation {
    override class var typeName: String { "ParlanceTestSquares" }
    static var instanceCount = 0
    var allocations = 0
    var snapshots = 0

    required init(instance: WidgetInstance) {
        super.init(instance: instance)
        Self.instanceCount += 1
    }

    isolated deinit { Self.instanceCount -= 1 }

    func add(_ child: Widget) { gtk_widget_set_parent(child.cast(), cast()) }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        let side = 10 * (orientation == .horizontal ? widget.children.count : 1)
        for child in widget.children { gtk_widget_measure(child.cast(), orientation.gtk, -1, nil, nil, nil, nil) }
        return SizeRequest(minimum: side, natural: side)
    }

    override func allocate(width: Int, height: Int) {
        allocations += 1
        for (index, child) in widget.children.enumerated() {
            var place = GdkRectangle(x: Int32(index * 10), y: 0, width: 10, height: 10)
            gtk_widget_size_allocate(child.cast(), &place, -1)
        }
    }

    override func snapshot(_ snapshot: Snapshot) {
        snapshots += 1
        super.snapshot(snapshot)
    }
}

/// Records the scroll offsets that it receives.
@MainActor
final class ScrollRecorderImplementation: ScrollableImplementation {
    override class var typeName: String { "ParlanceTestLedger" }
    var scrolledTo: [Double] = []
    override func scrolled(to value: Double) { scrolledTo.append(value) }
    override func allocate(width: Int, height: Int) {
        configure(value: 40, upper: 1000, pageSize: Double(height))
    }
}

final class WidgetImplementationTests: GtkTestCase {
    func testMeasuresAllocatesDrawsAndIsFinalized() {
        onMain {
            let before = SquaresImplementation.instanceCount
            do {
                let squares = SquaresImplementation.make()
                guard let implementation = SquaresImplementation.of(squares) else {
                    return XCTFail("no implementation")
                }
                implementation.add(Box(.horizontal))
                implementation.add(Box(.horizontal))
                var natural: Int32 = 0
                gtk_widget_measure(squares.cast(), GTK_ORIENTATION_HORIZONTAL, -1, nil, &natural, nil, nil)
                XCTAssertEqual(natural, 20)
                let window = TestWindow(squares)
                XCTAssertTrue(MainLoop.pump { implementation.snapshots > 0 })
                XCTAssertGreaterThan(implementation.allocations, 0)
                XCTAssertEqual(squares.children.last?.bounds(in: squares)?.x, 10)
                window.close()
            }
            XCTAssertTrue(MainLoop.pump { SquaresImplementation.instanceCount == before })
        }
    }

    /// `Class()` creates the widget, which its container then owns.
    func testInitializerMakesAWidgetThatItsContainerOwns() {
        onMain {
            let before = SquaresImplementation.instanceCount
            do {
                let squares = SquaresImplementation()
                XCTAssertTrue(SquaresImplementation.of(squares.widget) === squares)
                squares.add(Box(.horizontal))
                let window = TestWindow(squares.widget)
                XCTAssertTrue(MainLoop.pump { squares.snapshots > 0 })
                window.close()
            }
            XCTAssertTrue(MainLoop.pump { SquaresImplementation.instanceCount == before })
        }
    }

    func testIsCreatedFromAUIFile() {
        onMain {
            _ = SquaresImplementation.type
            let builder = Builder(
                text: """
                    <interface><object class="ParlanceTestSquares" id="squares">
                    <property name="visible">0</property></object></interface>
                    """)
            let squares: Widget = builder["squares"]
            XCTAssertNotNil(SquaresImplementation.of(squares))
            XCTAssertFalse(squares.isVisible)
        }
    }

    func testOtherWidgetsHaveNoImplementation() {
        onMain { XCTAssertNil(SquaresImplementation.of(Label("x"))) }
    }

    func testScrollableDrivesAndFollowsItsAdjustment() {
        onMain {
            let recorder = ScrollRecorderImplementation.make()
            guard let implementation = ScrollRecorderImplementation.of(recorder) else {
                return XCTFail("no implementation")
            }
            let scrolled = ScrolledWindow(sinking: gtk_scrolled_window_new())
            scrolled.setChild(recorder)
            let window = TestWindow(scrolled)
            XCTAssertTrue(MainLoop.pump { scrolled.verticalAdjustment.upper == 1000 })
            XCTAssertEqual(scrolled.verticalAdjustment.value, 40)
            XCTAssertEqual(implementation.scrolledTo, [], "its own configuration is no scrolling")
            scrolled.verticalAdjustment.value = 120
            XCTAssertEqual(implementation.scrolledTo, [120])
            window.close()
        }
    }
}
