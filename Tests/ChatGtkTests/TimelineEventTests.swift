import CGtk
import ChatCore
import ChatStore
import ChatViewModels
import GtkKit
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk

/// What happened in a room, among its messages.
final class TimelineEventTests: GtkTestCase {
    func testEventsStandInOneRowThatOpensByClickAndKeys() throws {
        try onMain {
            let bench = try ConversationBench(3)
            try finish { [backend = bench.fixture.backend] in
                try await backend.setTopic("First", of: ConversationBench.room)
                try await backend.renameRoom(ConversationBench.room, to: "Short")
                try await backend.setTopic("Second", of: ConversationBench.room)
            }
            XCTAssertTrue(bench.wait { Self.group(bench)?.lines.count == 3 })
            bench.settle()
            let row = try XCTUnwrap(Self.row(bench))
            XCTAssertEqual(row.spoken, "You named the room “Short” · You set the topic to “Second”")
            let height = row.widget.height
            try RealInput.point(at: row.widget)
            try RealInput.click()
            XCTAssertTrue(bench.wait { Self.group(bench)?.isExpanded == true && row.widget.height > height })
            XCTAssertTrue(row.spoken.contains("You set the topic to “First”"), row.spoken)
            bench.timeline.grabFocus()
            XCTAssertTrue(bench.wait { bench.list.focusedRow == bench.model.rows.count - 1 })
            try bench.press("Return")
            XCTAssertTrue(bench.wait { Self.group(bench)?.isExpanded == false && row.widget.height == height })
            try bench.press("space")
            XCTAssertTrue(bench.wait { Self.group(bench)?.isExpanded == true })
            XCTAssertEqual(bench.model.state.markedCount, 0)
            try bench.close()
        }
    }

    @MainActor private static func group(_ bench: ConversationBench) -> EventGroup? { bench.model.rows.last?.events }

    @MainActor private static func row(_ bench: ConversationBench) -> EventRow? {
        group(bench).flatMap { bench.list.row(for: TimelineItem.ID.events($0.id)) as? EventRow }
    }

    func testNamesAreListedAsOneSaysThem() throws {
        try onMain {
            @MainActor func names(_ count: Int) -> String {
                EventText.names((0..<count).map { .named(["Ada", "Bo", "Cy", "Di", "{first}"][$0]) })
            }
            XCTAssertEqual(names(1), "Ada")
            XCTAssertEqual(names(2), "Ada and Bo")
            XCTAssertEqual(names(3), "Ada, Bo and Cy")
            XCTAssertEqual(names(5), "Ada, Bo and 3 others")
            XCTAssertEqual(EventText.names([.named("{last}"), .own]), "{last} and You")
        }
    }
}
