import CGtk
import ChatCore
import ChatStore
import ChatViewModels
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit
@testable import TimelineGtk

/// Code and tables in messages: vertical scrolling moves the messages, horizontal scrolling the block.
final class TimelineWheelTests: GtkTestCase {
    /// A mouse wheel over code and over a table, with and without Shift.
    func testVerticalWheelOverWideBlocksScrollsTheMessages() throws {
        try onMain {
            let bench = try WideContent.bench()
            for block in try WideContent.scrollers(bench) {
                let sideways = block.horizontalAdjustment
                XCTAssertGreaterThan(sideways.upper, sideways.pageSize, "too wide to be seen whole")
                try bench.activate()
                // Over the block's scrollbar too: it must not capture vertical scrolling that passes over it.
                try RealInput.point(at: block, x: Double(block.width) / 2, y: Double(block.height) - 6)
                try bench.input("click", "--repeat", "3", "--delay", "20", "4")
                XCTAssertGreaterThan(bench.list.distanceFromEnd, 100, "up, over the scrollbar")
                try bench.input("click", "--repeat", "12", "--delay", "20", "5")
                try RealInput.point(at: block)
                try bench.input("click", "--repeat", "3", "--delay", "20", "4")
                XCTAssertGreaterThan(bench.list.distanceFromEnd, 100, "up, over the block")
                XCTAssertEqual(sideways.value, 0)
                // Repeat up to the end: rows turn out higher than estimated.
                for _ in 0..<5 where !bench.list.isAtEnd {
                    try bench.input("click", "--repeat", "12", "--delay", "20", "5")
                }
                XCTAssertTrue(bench.list.isAtEnd, "and down again: \(bench.list.distanceFromEnd)")
                try RealInput.point(at: block)
                try bench.input("keydown", "shift", "click", "--repeat", "2", "5", "keyup", "shift")
                XCTAssertTrue(bench.wait { sideways.value > 30 }, "Shift turns it: \(sideways.value)")
                XCTAssertTrue(bench.list.isAtEnd)
                // Button 6: a tilted wheel.
                let before = sideways.value
                try bench.input("click", "6")
                XCTAssertTrue(bench.wait { sideways.value < before }, "\(sideways.value)")
                XCTAssertTrue(bench.list.isAtEnd)
                try bench.input("keydown", "shift", "click", "--repeat", "9", "4", "keyup", "shift")
                XCTAssertTrue(bench.wait { sideways.value == 0 })
                XCTAssertTrue(bench.list.isAtEnd)
            }
            try bench.close()
        }
    }
}

/// A room whose last messages are wider than its window.
@MainActor
enum WideContent {
    static func bench() throws -> ConversationBench {
        let fixture = try ConversationBench.makeRoom(60, unread: 0)
        let long = String(repeating: "wide ", count: 80)
        let texts = [
            "code": "```\n" + (0..<6).map { "\($0) \(long)" }.joined(separator: "\n") + "\n```",
            "table": "| a | b | c | d | e | f |\n|-|-|-|-|-|-|\n"
                + (0..<6).map { "| \($0)\(String(repeating: " | wide enough to fill a column", count: 5)) |" }
                .joined(separator: "\n"),
        ]
        try finish { [store = fixture.store] in
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
                _ = try await store.append(
                    NewMessage(
                        id: MessageID(name), sender: ConversationBench.other, text: text,
                        sentAt: Date(timeIntervalSince1970: 1_768_000_000)),
                    to: ConversationBench.room)
            }
        }
        return try ConversationBench(in: fixture)
    }

    /// Returns the scrolled windows of the code block and the table.
    static func scrollers(_ bench: ConversationBench) throws -> [ScrolledWindow] {
        let found = ConversationBench.descendants(of: bench.list.widget).filter {
            shim_is_a($0.pointer, gtk_scrolled_window_get_type()) != 0
        }
        guard found.count == 2 else { throw TimedOut() }
        return found.map { ScrolledWindow(borrowing: $0.pointer) }
    }
}
