import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit
@testable import TimelineGtk

/// Scrolling by user and application.
final class TimelineListScrollingTests: GtkTestCase {
    func testUserScrollsAreExact() {
        onMain {
            let bench = TimelineListBench.reading()
            for step in [-0.4, -70.5, 33.25, 600, -1100] as [Double] {
                let key = bench.readKey
                let before = bench.list.bounds(of: key)?.top ?? .nan
                bench.scroll(by: step)
                bench.layOut()
                if let after = bench.list.bounds(of: key)?.top {
                    XCTAssertEqual(after, before - step, accuracy: 1e-6, "a move of \(step)")
                }
                bench.waitUntilIdle()
            }
            let key = bench.readKey
            let before = bench.top(key)
            for _ in 0..<100 {
                bench.scroll(by: 0.4)
                bench.layOut()
            }
            XCTAssertEqual(bench.top(key), before - 40, accuracy: 1, "100 times 0.4 pixels")
            bench.close()
        }
    }

    func testOnlyUserScrollsChangeTheAdjustmentValue() {
        onMain {
            let bench = TimelineListBench.reading()
            let value = bench.adjustment.value
            bench.source.insert(TimelineListBench.heights(50), at: 0)
            bench.waitUntilIdle()
            bench.source.insert(TimelineListBench.heights(50), at: bench.source.count)
            bench.waitUntilIdle()
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            XCTAssertEqual(bench.adjustment.value, value)
            XCTAssertEqual(bench.adjustment.value, bench.adjustment.upper - bench.adjustment.pageSize)
            bench.close()
        }
    }

    func testPrependingDuringAFlingKeepsThePosition() {
        onMain {
            let bench = TimelineListBench.reading()
            var (value, speed) = (bench.adjustment.value, -50.0)
            for step in 0..<30 {
                let key = bench.readKey
                let before = bench.list.bounds(of: key)?.top ?? .nan
                // Kinetic scrolling sets absolute values.
                value += speed
                bench.adjustment.value = value
                if step == 12 { bench.source.insert(TimelineListBench.heights(50), at: 0) }
                bench.layOut()
                XCTAssertEqual(bench.list.bounds(of: key)?.top ?? .nan, before - speed, accuracy: 1e-6)
                speed *= 0.95
            }
            bench.close()
        }
    }

    func testEndsAreReachedExactly() {
        onMain {
            let bench = TimelineListBench.reading()
            bench.scroll(by: -1e7)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(bench.source.keys[0]), 0)
            XCTAssertEqual(bench.list.distanceFromStart, 0)
            XCTAssertEqual(bench.adjustment.value, bench.adjustment.lower)
            for _ in 0..<400 {
                bench.scroll(by: 79)
                bench.layOut()
            }
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height)
            XCTAssertTrue(bench.list.isAtEnd)
            bench.scroll(by: -0.4)
            bench.layOut()
            bench.scroll(by: -0.4)
            bench.layOut()
            XCTAssertEqual(bench.list.distanceFromEnd, 0.8, accuracy: 1e-6, "no clinging to the end")
            bench.close()
        }
    }

    func testThumbNeverMovesAgainstTheWheel() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(5000))
            for (direction, start) in [(-1.0, 0.0), (1.0, -120_000)] {
                bench.scroll(by: start)
                bench.waitUntilIdle()
                var last = Self.thumb(bench)
                for _ in 0..<120 {
                    bench.scroll(by: direction * 79)
                    bench.layOut()
                    let now = Self.thumb(bench)
                    XCTAssertGreaterThanOrEqual((now - last) * direction, -1e-9)
                    last = now
                }
            }
            bench.close()
        }
    }

    @MainActor private static func thumb(_ bench: TimelineListBench) -> Double {
        let adjustment = bench.adjustment
        return (adjustment.value - adjustment.lower) / (adjustment.upper - adjustment.lower)
    }

    func testScrollsToARow() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(2000))
            bench.list.scroll(to: 700, at: .start)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(700), 0)
            bench.list.scroll(to: 1500, at: .end)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(1500), bench.height)
            bench.list.scroll(to: 30, at: .center)
            bench.waitUntilIdle()
            XCTAssertEqual((bench.top(30) + bench.bottom(30)) / 2, bench.height / 2, accuracy: 0.5)
            let place = bench.top(30)
            bench.list.scroll(to: 30, at: .nearest)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(30), place, "it is in view")
            bench.list.scroll(to: 60, at: .nearest)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(60), bench.height)
            XCTAssertFalse(bench.list.scroll(to: 99_999, at: .start), "no such row")
            bench.list.scroll(to: 1999, at: .start)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(1999), bench.height, "nothing empty below the last row")
            XCTAssertTrue(bench.list.isAtEnd)
            bench.close()
        }
    }

    func testAnimationEndsExactlyWithoutAJump() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(2000))
            bench.becomeIdle()
            bench.list.scroll(to: 1995, at: .start, animated: true)
            XCTAssertFalse(bench.list.anchoring.isAnimating, "all of it is in view already, there is nowhere to go")
            bench.waitUntilIdle()
            let key = bench.visibleKeys[2]
            let target = bench.source.keys.firstIndex(of: key).map { $0 - 6 } ?? 0
            bench.list.scroll(to: target, at: .start, animated: true)
            XCTAssertTrue(bench.list.anchoring.isAnimating)
            bench.source.insert(TimelineListBench.heights(50), at: 0)
            var tops: [Double] = []
            while bench.list.anchoring.isAnimating { bench.waitUntilIdle { tops.append(bench.top(key)) } }
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(target), 0)
            for (before, after) in zip(tops, tops.dropFirst()) where !before.isNaN && !after.isNaN {
                XCTAssertGreaterThanOrEqual(after, before, "it only goes down the screen")
            }
            bench.close()
        }
    }

    /// The layout has not yet brought the list back to its end when the program scrolls elsewhere.
    func testScrollPastTheEndDoesNotAffectTheNextScroll() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(500))
            bench.list.scroll(by: 50)
            bench.list.scrollToStart()
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(0), 0)
            bench.close()
        }
    }

    func testUserScrollStopsAnAnimationInPlace() {
        onMain {
            for placement in [TimelineListPlacement.start, .center, .end] {
                let bench = TimelineListBench(TimelineListBench.heights(500))
                bench.list.scroll(to: 100, at: placement, animated: true)
                bench.layOut()
                let key = bench.readKey
                let before = bench.list.bounds(of: key)?.top ?? .nan
                bench.scroll(by: -10)
                XCTAssertFalse(bench.list.anchoring.isAnimating)
                bench.layOut()
                XCTAssertEqual(bench.list.bounds(of: key)?.top ?? .nan, before + 10, accuracy: 1e-6, "\(placement)")
                bench.close()
            }
        }
    }

    func testScrollIsImmediateWithoutAnimations() {
        onMain {
            let settings = Object(borrowing: UnsafeMutableRawPointer(gtk_settings_get_default()))
            settings.setProperty("gtk-enable-animations", false)
            defer { settings.setProperty("gtk-enable-animations", true) }
            let bench = TimelineListBench(TimelineListBench.heights(500))
            bench.list.scroll(to: 100, at: .start, animated: true)
            bench.layOut()
            XCTAssertEqual(bench.top(100), 0)
            bench.close()
        }
    }

    func testPositionCanBeRestored() {
        onMain {
            let bench = TimelineListBench.reading()
            let position = bench.list.position
            let key = bench.readKey
            let place = bench.bottom(key)
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            XCTAssertEqual(bench.list.position, .end)
            bench.source.insert(TimelineListBench.heights(30), at: 0)
            XCTAssertTrue(bench.list.restore(position))
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(key), place)
            XCTAssertFalse(bench.list.restore(.row(-5, below: 0)), "its row is no more")
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(key), place)
            // Simulate a restart: restore before the first layout.
            let (widget, list) = TimelineList.create()
            list.source = bench.source
            XCTAssertTrue(list.restore(position))
            XCTAssertEqual(list.position, position)
            _ = widget
            bench.close()
        }
    }

    /// The list was at its end at the last layout, and is not any more.
    func testRequestedPositionSurvivesChangesBeforeItsLayout() {
        onMain {
            let bench = TimelineListBench.reading()
            let position = bench.list.position
            let key = bench.readKey
            let place = bench.bottom(key)
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            XCTAssertTrue(bench.list.isAtEnd)
            XCTAssertTrue(bench.list.restore(position))
            bench.source.insert([40], at: bench.source.count)
            bench.source.insert([40], at: 0)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(key), place, "a row has come")
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            XCTAssertTrue(bench.list.restore(position))
            bench.source.replace(Array(bench.source.keys.dropLast(3)))
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(key), place, "all rows were read anew")
            bench.source.show(TimelineListBench.heights(300))
            let other = bench.source.keys[120]
            XCTAssertTrue(bench.list.restore(.row(other, below: -20)))
            bench.source.insert([40], at: bench.source.count)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(other), bench.height - 20, "another room was opened")
            XCTAssertFalse(bench.list.isAtEnd)
            bench.close()
        }
    }

    func testEndIsFollowedThroughSeveralChangesBeforeALayout() {
        onMain {
            let bench = TimelineListBench.reading()
            bench.list.scrollToEnd()
            for _ in 0..<3 { bench.source.insert([40], at: bench.source.count) }
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height, "the end was requested")
            bench.scroll(by: -0.4)
            bench.layOut()
            for _ in 0..<3 { bench.source.insert([40], at: bench.source.count) }
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(bench.lastKey), bench.height, "the end was less than half a pixel away")
            bench.close()
        }
    }

    func testResetKeepsTheTargetOfAnAnimation() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(2000))
            bench.becomeIdle()
            let target = bench.visibleKeys[2] - 6
            bench.list.scroll(to: target, at: .start, animated: true)
            bench.layOut()
            var key = bench.visibleKeys[2]
            var place = bench.list.bounds(of: key)?.top ?? .nan
            bench.source.replace(Array(bench.source.keys.dropFirst(50)))
            bench.layOut()
            XCTAssertTrue(bench.list.anchoring.isAnimating)
            XCTAssertEqual(bench.list.bounds(of: key)?.top ?? .nan, place, accuracy: 1e-6)
            while bench.list.anchoring.isAnimating { bench.waitUntilIdle() }
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(target), 0)
            let removed = target - 6
            bench.list.scroll(to: removed, at: .start, animated: true)
            bench.layOut()
            key = bench.visibleKeys[2]
            place = bench.list.bounds(of: key)?.top ?? .nan
            bench.source.replace(bench.source.keys.filter { $0 != removed })
            bench.layOut()
            XCTAssertFalse(bench.list.anchoring.isAnimating, "its target is no more")
            XCTAssertEqual(bench.list.bounds(of: key)?.top ?? .nan, place, accuracy: 1e-6)
            bench.close()
        }
    }

    /// A room that opens does not load a second page at once.
    func testListAtRestRequestsMoreRowsTwoScreensAhead() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 60, count: 400))
            var asked: [TimelineListEdge] = []
            bench.list.onNeedsMore = { asked.append($0) }
            bench.list.moreRows = [.start]
            for (screens, expected) in [(4.0, []), (2.5, []), (1.5, [TimelineListEdge.start])] {
                bench.list.scroll(toIndex: Int(screens * bench.height / 60), at: .start)
                bench.waitUntilIdle()
                XCTAssertEqual(bench.list.distanceFromStart, screens * bench.height, accuracy: 60)
                XCTAssertEqual(asked, expected, "\(screens) screens from the start")
            }
            bench.close()
        }
    }

    func testMovingListRequestsMoreRowsFiveScreensAheadAndOnce() {
        onMain {
            let bench = TimelineListBench(Array(repeating: 60, count: 400))
            var asked: [TimelineListEdge] = []
            bench.list.onNeedsMore = { asked.append($0) }
            bench.list.moreRows = [.start]
            bench.waitUntilIdle()
            XCTAssertEqual(asked, [], "the start is far")
            while bench.list.distanceFromStart > 5 * bench.height {
                XCTAssertEqual(asked, [])
                bench.scroll(by: -79)
                bench.layOut()
                bench.becomeIdle()
            }
            XCTAssertEqual(asked, [.start])
            bench.scroll(by: -4 * bench.height)
            bench.waitUntilIdle()
            XCTAssertEqual(asked, [.start], "one request at a time")
            bench.source.insert(TimelineListBench.heights(5), at: 0)
            bench.list.finishedLoading(.start, hasMore: true)
            bench.waitUntilIdle()
            XCTAssertEqual(asked, [.start, .start])
            bench.list.finishedLoading(.start, hasMore: false)
            bench.waitUntilIdle()
            XCTAssertEqual(asked, [.start, .start], "there is no more")
            bench.list.moreRows = [.end]
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            XCTAssertEqual(asked, [.start, .start, .end])
            bench.close()
        }
    }

    func testVisibleRowsAreReportedAfterLayout() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(300))
            var (changes, ends): (Int, [Bool]) = (0, [])
            bench.list.onVisibleChange = { changes += 1 }
            bench.list.onAtEndChange = { ends.append($0) }
            bench.waitUntilIdle()
            XCTAssertEqual(changes, 0)
            for _ in 0..<10 { bench.scroll(by: -20) }
            bench.waitUntilIdle()
            XCTAssertEqual(changes, 1, "once a frame")
            XCTAssertEqual(ends, [false])
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            XCTAssertEqual(ends, [false, true])
            bench.close()
        }
    }

    /// A row scrolled into view stays visible when the list shrinks, but not once the user scrolls away.
    func testRowScrolledIntoViewStaysVisibleAsTheListShrinks() {
        onMain {
            let bench = TimelineListBench(TimelineListBench.heights(300))
            bench.list.scroll(toIndex: 200, at: .nearest)
            bench.waitUntilIdle()
            XCTAssertEqual(bench.top(200), 0, accuracy: 0.5)
            let height = bench.height
            for lower in [30.0, 90, 160] {
                bench.resize(width: 320, height: 400 - Int(lower))
                bench.waitUntilIdle()
                XCTAssertEqual(bench.height, height - lower, accuracy: 0.5)
                XCTAssertEqual(bench.top(200), 0, accuracy: 0.5)
            }
            bench.scroll(by: 40)
            bench.waitUntilIdle()
            bench.resize(width: 320, height: 220)
            bench.waitUntilIdle()
            XCTAssertLessThan(bench.top(200), -40)
            bench.close()
        }
    }

    /// Scroll state is reported only for rows that are laid out: an empty list is at its end, new rows are not yet.
    func testRowsAreNotReportedBeforeLayout() {
        onMain {
            let bench = TimelineListBench([])
            var ends: [Bool] = []
            bench.list.onVisibleChange = { ends.append(bench.list.isAtEnd) }
            bench.list.notifyAgain()
            bench.source.replace(Array(0..<300))
            bench.list.scroll(toIndex: 0, at: .start)
            bench.waitUntilIdle()
            XCTAssertEqual(Set(ends), [false])
            XCTAssertEqual(bench.list.visibleRows.lowerBound, 0)
            bench.close()
        }
    }

    func testFindsTheRowAtAPoint() {
        onMain {
            let bench = TimelineListBench.reading()
            let key = bench.visibleKeys[3]
            let hit = bench.list.row(at: bench.top(key) + 5)
            XCTAssertEqual(hit?.key, AnyHashable(key))
            XCTAssertEqual(hit?.y ?? 0, 5, accuracy: 0.5)
            XCTAssertEqual((hit?.row as? TestRow)?.key, key)
            let short = TimelineListBench([30, 30])
            XCTAssertNil(short.list.row(at: 10))
            XCTAssertEqual(short.list.row(at: 10, nearest: true)?.index, 0)
            short.close()
            bench.close()
        }
    }

    func testDragAtAnEdgeScrolls() {
        onMain {
            let bench = TimelineListBench.reading()
            var steps = 0
            bench.list.onDragScroll = { steps += 1 }
            let before = bench.list.distanceFromEnd
            bench.list.dragScroll(at: bench.height / 2)
            bench.waitUntilIdle()
            XCTAssertEqual(steps, 0, "in the middle it rests")
            bench.list.dragScroll(at: bench.height + 30)
            _ = MainLoop.pump { steps > 3 }
            XCTAssertLessThan(bench.list.distanceFromEnd, before)
            bench.list.endDragScroll()
            bench.waitUntilIdle()
            let rest = steps
            bench.waitUntilIdle()
            XCTAssertEqual(steps, rest)
            bench.close()
        }
    }
}
