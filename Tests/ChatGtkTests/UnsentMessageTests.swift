import CGtk
import ChatCore
import GtkKit
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels

/// A message that was given up, by a real pointer.
final class UnsentMessageTests: GtkTestCase {
    @MainActor
    private final class Asked: MessageRowDelegate {
        var retried: [MessageID] = []
        var deleted: [MessageID] = []
        func retry(_ message: MessageID) { retried.append(message) }
        func delete(_ message: MessageItem) { deleted.append(message.id) }
        func openMenu(of row: MessageRow) {}
        func reply(to message: MessageID) {}
        func edit(_ message: MessageID) {}
        func openReactions(of row: MessageRow) {}
        func react(_ text: String, to message: MessageID) {}
        func jump(to message: MessageID) {}
        func open(_ link: BodyLink, from widget: Widget) {}
    }

    private static func item(_ delivery: Message.Delivery) -> TimelineItem {
        .message(
            MessageItem(
                id: MessageID("m"), text: "hello", body: MessageBody(plain: "hello"), senderID: MemberID("own"),
                senderName: "Robin", sentAt: Date(timeIntervalSince1970: 1_767_323_045), isOwn: true, isEdited: false,
                isDeleted: false, delivery: delivery, transactionID: TransactionID("t"), startsGroup: true,
                endsGroup: true, isBeingEdited: false))
    }

    func testWhatWasGivenUpIsSentAgainOrDiscarded() throws {
        try onMain {
            let fixture = try ChatFixture()
            let asked = Asked()
            let row = MessageRow(isOwn: true, media: MediaPresenter(service: fixture.backend), delegate: asked)
            row.show(Self.item(.failed), selected: nil)
            let window = TestWindow(row.widget, width: 360, height: 200)
            let strip = try XCTUnwrap(row.unsent)
            XCTAssertTrue(strip.widget.isMapped)
            XCTAssertTrue(row.spoken.contains("not sent"), row.spoken)
            try RealInput.activate(window.window)
            try RealInput.point(at: strip.retry)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { asked.retried == [MessageID("m")] })
            try RealInput.point(at: strip.discard)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { asked.deleted == [MessageID("m")] })
            for delivery in [Message.Delivery.sending, .sent] {
                row.show(Self.item(delivery), selected: nil)
                XCTAssertTrue(MainLoop.pump { !strip.widget.isMapped }, "\(delivery)")
            }
            window.close()
            try fixture.close()
        }
    }
}
