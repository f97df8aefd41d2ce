import GtkTestSupport
import XCTest

@testable import GtkKit
@testable import TimelineGtk

/// The scroll anchor stays in place to the pixel, in every frame, whatever changes around it.
final class TimelineListTests: GtkTestCase {
    func testOpensAtTheEndAndFollowsAddedRows() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(60))
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height)
            XCTAssertTrue(bench.list.isAtEnd)
            bench.source.insert([90], at: 60)
            bench.waitUntilIdle { XCTAssertEqual(bench.bottom(bench.lastKey), bench.height, "no wrong frame") }
            bench.source.resize(60, to: 300)
            bench.waitUntilIdle {
                XCTAssertEqual(bench.bottom(bench.lastKey), bench.height, "a row that grows at the end")
            }
            bench.source.remove(at: 59, count: 2)
            bench.waitUntilIdle { XCTAssertEqual(bench.bottom(bench.lastKey), bench.height, "the last rows go") }
            bench.close()
        }
    }

    func testScrollPositionSurvivesSurroundingChanges() {
        onMain {
            let bench = TimelineListBench.reading()
            let source = bench.source
            bench.checkStill("prepending") { source.insert(TimelineListBench.heights(50), at: 0) }
            bench.checkStill("appending") { source.insert(TimelineListBench.heights(50), at: source.count) }
            let first = bench.list.visibleRows.lowerBound
            bench.checkStill("a row in view above grows") { source.resize(first + 1, to: 170) }
            bench.checkStill("it shrinks") { source.resize(first + 1, to: 2) }
            bench.checkStill("rows above grow") { source.resize(bench.list.visibleRows.lowerBound - 3, to: 170) }
            bench.checkStill("rows in view below come") {
                source.insert([30, 40], at: bench.list.visibleRows.upperBound - 1)
            }
            bench.checkStill("rows in view above come") {
                source.insert([30, 40], at: bench.list.visibleRows.lowerBound + 2)
            }
            bench.checkStill("rows in view above go") {
                source.remove(at: bench.list.visibleRows.lowerBound, count: 2)
            }
            bench.checkStill("rows far above go") { source.remove(at: 3, count: 40) }
            bench.checkStill("rows far below go") { source.remove(at: source.count - 40, count: 40) }
            bench.close()
        }
    }

    func testGrowingRowMovesNothingElse() {
        onMain {
            let bench = TimelineListBench.reading()
            guard let above = bench.list.row(for: bench.visibleKeys[1]) as? TestRow else { return XCTFail("no row") }
            bench.checkStill("an image has come") { above.setPixels(190) }
            bench.close()
        }
    }

    /// SLK-55: the composer grows, the on-screen keyboard appears, the window is resized.
    func testResizingTheViewportMovesNoRows() {
        onMain {
            let bench = TimelineListBench.reading()
            bench.checkStill("less height") { bench.resize(width: 320, height: 300) }
            bench.checkStill("wrapped anew, narrower") { bench.resize(width: 240, height: 300) }
            bench.checkStill("wrapped anew, wider") { bench.resize(width: 500, height: 500) }
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            bench.resize(width: 250, height: 200)
            bench.waitUntilIdle { XCTAssertEqual(bench.bottom(bench.lastKey), bench.height, "the end stays in view") }
            bench.close()
        }
    }

    func testRemovingTheAnchorRowKeepsItsNeighbor() {
        onMain {
            let bench = TimelineListBench.reading()
            let keys = bench.visibleKeys
            let index = bench.source.keys.firstIndex(of: bench.readKey) ?? 0
            let next = keys.last == bench.readKey ? keys[keys.count - 2] : keys[keys.count - 1]
            let place = bench.bottom(next)
            bench.source.remove(at: index, count: 1)
            bench.waitUntilIdle { XCTAssertEqual(bench.bottom(next), place) }
            bench.close()
        }
    }

    func testResettingKeepsTheScrollPosition() {
        onMain {
            let bench = TimelineListBench.reading()
            let keys = bench.source.keys
            bench.checkStill("every third row goes") {
                let read = bench.readKey
                bench.source.replace(keys.filter { $0 % 3 != 0 || $0 == read })
            }
            bench.checkStill("they come again") { bench.source.replace(keys) }
            let next = bench.visibleKeys.last { $0 != bench.readKey && bench.bottom($0) <= bench.height } ?? -1
            let place = bench.bottom(next)
            let read = bench.readKey
            bench.source.replace(keys.filter { $0 != read })
            bench.waitUntilIdle { XCTAssertEqual(bench.bottom(next), place, "the neighbour of the row that is read") }
            bench.source.replace([])
            bench.waitUntilIdle()
            XCTAssertEqual(bench.list.count, 0)
            XCTAssertTrue(bench.list.isAtEnd)
            bench.close()
        }
    }

    func testShortContentIsAlignedToTheBottomOrTop() {
        onMain {
            let bench = TimelineListBench([30, 40, 50])
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height)
            bench.list.alignment = .start
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(bench.source.keys[0]), 0)
            bench.source.insert(TimelineListBench.heights(40), at: 3)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height, "too much to fit: the end is what is shown")
            bench.close()
        }
    }

    /// SLK-54: a list that is not inverted, as for logs.
    func testNonInvertedListOpensAtTheStartAndStaysThere() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(80)) {
                $0.isInverted = false
                $0.alignment = .start
            }
            XCTAssertEqual(bench.top(bench.source.keys[0]), 0)
            bench.source.insert([50, 50], at: bench.source.count)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(bench.source.keys[0]), 0)
            bench.scroll(by: 300)
            bench.waitUntilIdle()
            let key = bench.visibleKeys[1]
            let place = bench.top(key)
            bench.resize(width: 320, height: 250)
            bench.waitUntilIdle { XCTAssertEqual(bench.top(key), place, "the top stays") }
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            bench.source.insert([50], at: bench.source.count)
            bench.waitUntilIdle {
                XCTAssertEqual(bench.bottom(bench.lastKey), bench.height, "the end, once in view, stays")
            }
            bench.close()
        }
    }

    /// SLK-54: a log opens at its start and a conversation at its end, also when they were emptied.
    func testListThatIsFilledLaterOpensWhereItWouldOtherwise() {
        onMain {
            let bench = TimelineListBench([]) {
                $0.isInverted = false
                $0.alignment = .start
            }
            for _ in 0..<2 {
                bench.source.insert(TimelineListBench.heights(80), at: 0)
                bench.source.insert([50], at: bench.source.count)
                bench.waitUntilIdle()
                XCTAssertEqual(bench.top(bench.source.keys[0]), 0)
                XCTAssertFalse(bench.list.isAtEnd)
                bench.scroll(by: 300)
                bench.waitUntilIdle()
                bench.source.remove(at: 0, count: bench.source.count)
                bench.waitUntilIdle()
            }
            bench.close()
            let conversation = TimelineListBench.reading()
            conversation.source.remove(at: 0, count: conversation.source.count)
            conversation.source.insert(TimelineListBench.heights(80), at: 0)
            conversation.waitUntilIdle()
            XCTAssertEqual(conversation.bottom(conversation.lastKey), conversation.height)
            conversation.list.followsEnd = false
            conversation.source.remove(at: 0, count: 80)
            conversation.source.insert(TimelineListBench.heights(80), at: 0)
            conversation.waitUntilIdle()
            XCTAssertEqual(conversation.bottom(conversation.lastKey), conversation.height)
            conversation.close()
        }
    }

    /// The header of what expands stays under the pointer, and the end is followed as before.
    func testHeldRowGrowsAndShrinksBelowItsTop() {
        onMain {
            let bench = TimelineListBench.reading()
            let key = bench.visibleKeys[2]
            let index = bench.source.keys.firstIndex(of: key) ?? 0
            let place = bench.top(key)
            for height in [170, 20] {
                bench.list.holdTop(of: key)
                bench.source.resize(index, to: height)
                bench.waitUntilIdle { XCTAssertEqual(bench.top(key), place, "\(height) pixels high") }
            }
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            let last = bench.lastKey
            let lastPlace = bench.top(last)
            let count = bench.source.count
            bench.list.holdTop(of: last)
            bench.source.resize(count - 1, to: 190)
            bench.waitUntilIdle { XCTAssertEqual(bench.top(last), lastPlace, "at the end") }
            XCTAssertFalse(bench.list.isAtEnd)
            bench.list.holdTop(of: last)
            bench.source.resize(count - 1, to: 30)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(last), bench.height, "nothing empty below")
            bench.list.holdTop(of: last)
            bench.waitUntilIdle()
            bench.source.insert([40], at: count)
            bench.waitUntilIdle { XCTAssertEqual(bench.bottom(bench.lastKey), bench.height) }
            bench.close()
        }
    }

    func testDetachedListDoesNotFollowItsEnd() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(80)) { $0.followsEnd = false }
            let key = bench.lastKey
            XCTAssertEqual(bench.bottom(key), bench.height)
            bench.source.insert([50, 60], at: bench.source.count)
            bench.waitUntilIdle { XCTAssertEqual(bench.bottom(key), bench.height) }
            XCTAssertFalse(bench.list.isAtEnd)
            bench.list.followsEnd = true
            bench.waitUntilIdle { XCTAssertEqual(bench.bottom(key), bench.height, "nothing moves because it may") }
            bench.close()
        }
    }

    func testIsCreatedFromAUIFile() {
        onMain {
            TimelineList.register()
            let builder = Builder(
                text: """
                    <interface><object class="ParlanceTimelineList" id="list">
                    <property name="alignment">start</property><property name="inverted">0</property>
                    <property name="follows-end">0</property><property name="maximum-row-width">700</property>
                    </object></interface>
                    """)
            let widget: Widget = builder["list"]
            guard let list = TimelineList.of(widget) else { return XCTFail("no list") }
            XCTAssertEqual(list.alignment, .start)
            XCTAssertFalse(list.isInverted)
            XCTAssertFalse(list.followsEnd)
            XCTAssertEqual(list.maxRowWidth, 700)
            widget.setProperty("maximum-row-width", 300)
            XCTAssertEqual(list.maxRowWidth, 300)
        }
    }

    func testIsFinalizedWithItsRows() {
        onMain {
            let before = TestRowImplementation.instanceCount
            var gone = false
            do {
                let bench = TimelineListBench(TimelineListBench.heights(50))
                bench.list.focusVisible()
                bench.widget.onFinalize { gone = true }
                XCTAssertGreaterThan(TestRowImplementation.instanceCount, before)
                bench.close()
            }
            XCTAssertTrue(MainLoop.pump { gone && TestRowImplementation.instanceCount == before })
        }
    }

    func testWrongRowCountIsCorrected() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(50))
            bench.source.list = nil
            bench.source.insert([10, 10], at: 20)
            bench.widget.queueAllocate()
            bench.waitUntilIdle()
            XCTAssertEqual(bench.list.count, 52)
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height)
            bench.close()
        }
    }
}
