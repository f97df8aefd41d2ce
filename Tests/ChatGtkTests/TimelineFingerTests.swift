import CGtk
import ChatCore
import ChatViewModels
import Composer
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit
@testable import TimelineGtk

/// Touchscreen and touchpad gestures, with real events from the display server.
final class TimelineFingerTests: GtkTestCase {
    override func setUpWithError() throws {
        try onMain { try Fingers.require() }
        try super.setUpWithError()
    }

    @MainActor
    private static func makeBench(_ count: Int = 300) throws -> ConversationBench {
        let bench = try ConversationBench(count)
        try fullscreen(bench)
        return bench
    }

    @MainActor
    private static func fullscreen(_ bench: ConversationBench) throws {
        gtk_window_fullscreen(bench.window.window.cast())
        guard bench.wait({ bench.window.window.height == 800 }) else { throw TimedOut() }
        try bench.activate()
        bench.waitUntilIdle()
    }

    /// Returns the middle of a message's text in display coordinates; the window is fullscreen.
    @MainActor
    private static func place(_ number: Int, _ bench: ConversationBench) throws -> (x: Double, y: Double) {
        let row = try XCTUnwrap(bench.row(number))
        let text = try XCTUnwrap(ConversationBench.descendants(of: row.widget).first { BodyText.of($0) != nil })
        let bounds = try XCTUnwrap(text.bounds(in: bench.window.window))
        return (bounds.x + bounds.width / 2, bounds.y + bounds.height / 2)
    }

    /// SLK-48: tapping the messages hides the on-screen keyboard; a mouse click never does.
    func testTapDropsTheFocus() throws {
        try onMain {
            let bench = try Self.makeBench()
            bench.view.focusComposer()
            let clicked = try Self.place(299, bench)
            try bench.input(["mousemove", "\(Int(clicked.x))", "\(Int(clicked.y))", "click", "1"])
            XCTAssertTrue(bench.view.composerHasFocus, "a mouse leaves the focus")
            // Tap another message: at the same position the click and the tap would make a double click.
            let (x, y) = try Self.place(296, bench)
            try Fingers.touch(.begin, x: x, y: y)
            try Fingers.lift(x: x, y: y, over: bench.list.widget)
            XCTAssertTrue(bench.wait { !bench.view.composerHasFocus }, "a tap takes it")
            try bench.close()
        }
    }

    /// SLK-49, MIB-41: dragging the list down over the composer takes its focus; a shorter drag does not.
    func testDraggingOverTheComposerDropsTheFocus() throws {
        try onMain {
            let bench = try Self.makeBench()
            let top = try XCTUnwrap(bench.view.composerTop)
            let offset = try XCTUnwrap(bench.view.widget.bounds(in: bench.window.window)).y
            bench.view.focusComposer()
            let start = (x: 640.0, y: offset + top - 300)
            try Fingers.drag(from: start, to: (640, offset + top - 20), over: bench.list.widget)
            XCTAssertTrue(bench.view.composerHasFocus, "not over the composer yet")
            XCTAssertGreaterThan(bench.list.distanceFromEnd, 200, "the list goes with the finger")
            try Fingers.touch(.move, x: 640, y: offset + top + 40)
            XCTAssertTrue(bench.wait { !bench.view.composerHasFocus })
            try Fingers.lift(x: 640, y: offset + top + 40, over: bench.list.widget)
            bench.waitUntilIdle()
            try bench.close()
        }
    }

    /// SLK-49, MIB-41: selecting with the mouse from the messages down over the composer keeps the focus.
    func testDraggingTheMouseOverTheComposerKeepsTheFocus() throws {
        try onMain {
            let bench = try Self.makeBench()
            bench.view.focusComposer()
            let (x, y) = try Self.place(298, bench)
            try bench.input([
                "mousemove", "\(Int(x))", "\(Int(y))", "mousedown", "1", "mousemove_relative", "2", "8", "mousemove",
                "\(Int(x))", "780", "mousemove_relative", "1", "1", "mouseup", "1",
            ])
            XCTAssertTrue(bench.view.composerHasFocus)
            XCTAssertNotNil(bench.model.selectedText)
            try bench.close()
        }
    }

    /// The list follows the finger pixel by pixel and scrolls on kinetically after a flick.
    func testTouchScrollsAndFlings() throws {
        try onMain {
            let bench = try Self.makeBench()
            let number = try XCTUnwrap(bench.visible.first { $0 > (bench.visible.first ?? 0) + 1 })
            try Fingers.drag(from: (640, 200), to: (640, 260), steps: 4, over: bench.list.widget)
            let before = bench.bottom(number)
            try Fingers.touch(.move, x: 640, y: 300)
            XCTAssertTrue(bench.wait { abs(bench.bottom(number) - before - 40) < 1 }, "with the finger")
            try Fingers.lift(x: 640, y: 300, over: bench.list.widget)
            bench.waitUntilIdle()
            // Retry: on a busy machine a delayed touch sequence ends without velocity.
            let continues = try (0..<5).contains { _ in
                bench.view.scrollToEnd()
                bench.waitUntilIdle()
                try Self.flick(bench)
                let atLift = bench.list.distanceFromEnd
                return MainLoop.pump(forAtMost: 2) { bench.list.distanceFromEnd > atLift + 60 }
            }
            XCTAssertTrue(continues, "on by itself")
            bench.waitUntilIdle()
            try bench.close()
        }
    }

    /// SLK-55: a fling continues while pages load, and no row ever moves backward.
    func testFlingContinuesWhilePagesLoad() throws {
        try onMain {
            let bench = try Self.makeBench(1100)
            let oldest = bench.model.rows.count
            var last: (number: Int, bottom: Double)?
            var backwards = 0.0
            bench.list.widget.addTick {
                if let last, bench.row(last.number) != nil {
                    backwards = max(backwards, last.bottom - bench.bottom(last.number))
                }
                last = bench.visible.dropFirst().first.map { ($0, bench.bottom($0)) }
                return true
            }
            for _ in 0..<40 where bench.model.rows.count <= oldest {
                try Self.flick(bench)
                _ = MainLoop.pump(forAtMost: 0.2) { bench.model.rows.count > oldest }
            }
            XCTAssertGreaterThan(bench.model.rows.count, oldest, "a page came")
            let read = bench.visible.first
            let when = bench.list.distanceFromEnd
            XCTAssertTrue(
                bench.wait { bench.list.distanceFromEnd > when + 20 || bench.visible.first != read }, "goes on")
            XCTAssertEqual(backwards, 0, accuracy: 1)
            bench.waitUntilIdle()
            try bench.close()
        }
    }

    func testTouchStopsAFling() throws {
        try onMain {
            let bench = try Self.makeBench(300)
            let start = bench.list.distanceFromEnd
            try Self.flick(bench)
            XCTAssertTrue(bench.wait { bench.list.distanceFromEnd > start + 30 })
            try Fingers.touch(.begin, x: 640, y: 300)
            bench.frame()
            bench.frame()
            let held = bench.list.distanceFromEnd
            // Hold longer than a long press, which must open no menu here: the touch stopped a fling.
            XCTAssertFalse(MainLoop.pump(forAtMost: 1.5) { bench.timeline.menu.isOpen })
            XCTAssertEqual(bench.list.distanceFromEnd, held, accuracy: 1)
            try Fingers.lift(x: 640, y: 300, over: bench.list.widget)
            try bench.close()
        }
    }

    /// A jump cancels the fling, which must not continue at the new position.
    func testJumpCancelsAFling() throws {
        try onMain {
            let bench = try Self.makeBench(300)
            try Self.flick(bench)
            bench.view.jumpToLatest()
            XCTAssertTrue(bench.wait { bench.list.isAtEnd })
            for _ in 0..<30 { bench.frame() }
            XCTAssertEqual(bench.list.distanceFromEnd, 0)
            try bench.close()
        }
    }

    @MainActor
    private static func flick(_ bench: ConversationBench) throws {
        try Fingers.touch(.begin, x: 640, y: 150)
        for step in 1...8 {
            try Fingers.touch(.move, x: 640, y: 150 + Double(step) * 40)
            // 10 ms per step: a fixed velocity. GTK flings with the speed of the last 150 ms, and a frame may take longer
            // on a busy machine: the last steps wait for none.
            if step < 6 { _ = MainLoop.pump(forAtMost: 0.01) { false } } else { usleep(10_000) }
        }
        try Fingers.lift(x: 640, y: 470, over: bench.list.widget)
    }

    /// Two-finger scrolling follows the fingers exactly and continues kinetically.
    func testTouchpadScrollsKinetically() throws {
        try onMain {
            let bench = try Self.makeBench()
            bench.view.focusComposer()
            try Fingers.point(x: 640, y: 300)
            bench.frame()
            // GTK uses the first scroll event only to initialize the axis.
            try Fingers.scroll(-0.1)
            for _ in 0..<12 {
                try Fingers.scroll(-0.4)
                bench.frame()
            }
            let atLift = bench.list.distanceFromEnd
            XCTAssertGreaterThan(atLift, 100)
            try Fingers.fling(-0.1)
            XCTAssertTrue(bench.wait { bench.list.distanceFromEnd > atLift + 40 }, "on by itself")
            bench.waitUntilIdle()
            let still = bench.list.distanceFromEnd
            for _ in 0..<10 { bench.frame() }
            XCTAssertEqual(bench.list.distanceFromEnd, still, "and comes to rest")
            XCTAssertTrue(bench.view.composerHasFocus, "SLK-49: a touchpad never takes the focus")
            try bench.close()
        }
    }

    /// Over a code block, vertical scrolling moves the messages and horizontal scrolling the code, up to its end.
    func testTouchpadOverCodeScrollsOnlyOneAxis() throws {
        try onMain {
            let bench = try WideContent.bench()
            try Self.fullscreen(bench)
            for block in try WideContent.scrollers(bench) {
                let sideways = block.horizontalAdjustment
                let place = try XCTUnwrap(block.bounds(in: bench.window.window))
                // Move in two steps: GTK picks the widget under the pointer from the second motion on.
                for step in [20.0, 0] {
                    try Fingers.point(x: place.x + place.width / 2 - step, y: place.y + place.height / 2)
                    bench.frame()
                }
                // GTK uses the first scroll event only to initialize each axis.
                try Fingers.scroll(-0.1)
                try Fingers.scroll(0, sideways: 0.1)
                try Fingers.stopScrolling()
                bench.waitUntilIdle()
                let (start, left) = (bench.list.distanceFromEnd, sideways.value)
                for _ in 0..<8 {
                    try Fingers.scroll(-0.4, sideways: 0.1)
                    bench.frame()
                }
                XCTAssertGreaterThan(bench.list.distanceFromEnd, start + 60, "upright, and a little to the side")
                XCTAssertEqual(sideways.value, left)
                try Fingers.stopScrolling()
                bench.waitUntilIdle()
                bench.view.scrollToEnd()
                bench.waitUntilIdle()
                try Fingers.scroll(0, sideways: 0.2)
                for _ in 0..<8 {
                    try Fingers.scroll(-0.1, sideways: 0.4)
                    bench.frame()
                }
                XCTAssertGreaterThan(sideways.value, left + 60, "sideways, and a little upright")
                XCTAssertTrue(bench.list.isAtEnd)
                let atLift = sideways.value
                try Fingers.fling(0, sideways: 0.1)
                XCTAssertTrue(bench.wait { sideways.value > atLift + 10 }, "on by itself")
                bench.waitUntilIdle()
            }
            try bench.close()
        }
    }

    /// Touch scrolling over a code block, with the same rules as the touchpad.
    func testTouchOverCodeScrollsOnlyOneAxis() throws {
        try onMain {
            let bench = try WideContent.bench()
            try Self.fullscreen(bench)
            let block = try WideContent.scrollers(bench)[0]
            let place = try XCTUnwrap(block.bounds(in: bench.window.window))
            let (x, y) = (place.x + place.width / 2, place.y + place.height / 2)
            try Fingers.drag(from: (x, y), to: (x + 10, y + 150), over: bench.list.widget)
            XCTAssertGreaterThan(bench.list.distanceFromEnd, 80)
            XCTAssertEqual(block.horizontalAdjustment.value, 0)
            try Fingers.lift(x: x + 10, y: y + 150, over: bench.list.widget)
            bench.waitUntilIdle()
            bench.view.scrollToEnd()
            bench.waitUntilIdle()
            try Fingers.drag(from: (x, y), to: (x - 200, y + 10), over: bench.list.widget)
            XCTAssertGreaterThan(block.horizontalAdjustment.value, 80)
            XCTAssertTrue(bench.list.isAtEnd)
            try Fingers.lift(x: x - 200, y: y + 10, over: bench.list.widget)
            bench.waitUntilIdle()
            XCTAssertNil(bench.conversation.composer.state.composer.reply, "no swipe that answers")
            XCTAssertFalse(MainLoop.pump(forAtMost: 1) { bench.timeline.menu.isOpen }, "nor a finger that stays")
            try bench.close()
        }
    }

    /// A swipe to either side replies; a short one, or one that turns into scrolling, does not.
    func testSwipeStartsAReply() throws {
        try onMain {
            let bench = try Self.makeBench()
            let composer = bench.conversation.composer
            for (number, distance) in [(297, 120.0), (295, -120.0)] {
                let (x, y) = try Self.place(number, bench)
                try Fingers.drag(from: (x, y), to: (x + distance, y + 4), over: bench.list.widget)
                XCTAssertTrue(bench.row(number)?.widget.hasStyle("swiping") ?? false, "follows the finger")
                try Fingers.lift(x: x + distance, y: y + 4, over: bench.list.widget)
                XCTAssertTrue(
                    bench.wait { composer.state.composer.reply?.messageID == "m\(number)" },
                    "m\(number) by \(distance): \(composer.state.composer.mode)")
                XCTAssertFalse(bench.row(number)?.widget.hasStyle("swiping") ?? true)
                XCTAssertEqual(bench.list.distanceFromEnd, 0, "the list stays")
            }
            bench.view.focusComposer()
            try bench.press("Escape")
            XCTAssertTrue(bench.wait { composer.state.composer.reply == nil })
            bench.waitUntilIdle()
            for end in [(40.0, 2.0), (60.0, 200.0)] {
                let (x, y) = try Self.place(290, bench)
                try Fingers.drag(from: (x, y), to: (x + end.0, y + end.1), over: bench.list.widget)
                try Fingers.lift(x: x + end.0, y: y + end.1, over: bench.list.widget)
                bench.waitUntilIdle()
                XCTAssertNil(composer.state.composer.reply, "\(end)")
            }
            try bench.close()
        }
    }

    func testLongPressOpensTheMenu() throws {
        try onMain {
            let bench = try Self.makeBench()
            let (x, y) = try Self.place(298, bench)
            try Fingers.touch(.begin, x: x, y: y)
            XCTAssertTrue(bench.wait { bench.timeline.menu.isOpen })
            try Fingers.lift(x: x, y: y, over: bench.list.widget)
            bench.waitUntilIdle()
            XCTAssertTrue(bench.timeline.menu.isOpen, "stays when the finger is lifted")
            try bench.press("Escape")
            XCTAssertTrue(bench.wait { !bench.timeline.menu.isOpen })
            try bench.close()
        }
    }
}
