import CGtk
import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk

/// Messages that are being sent, and failed ones, driven by a real pointer.
final class UnsentMessageTests: GtkTestCase {
    @MainActor
    private final class Asked {
        var actions: [MessageAction] = []
        var outputs: MessageRow.Outputs { .ignoring(actionRequested: { action, _ in self.actions.append(action) }) }
    }

    private static func item(
        _ delivery: Message.Delivery, isOwn: Bool = true, _ more: (inout MessageItem) -> Void = { _ in }
    ) -> TimelineItem {
        var item = MessageItem(
            message: Fixtures.message(1, text: "hello"), body: MessageBody(plain: "hello"), senderName: "Robin",
            isOwn: isOwn, startsGroup: true, endsGroup: true)
        item.delivery = delivery
        item.transactionID = TransactionID("t")
        more(&item)
        return .message(item)
    }

    func testFailedChangeCanBeRetriedOrDismissed() throws {
        try onMain {
            let fixture = try ChatFixture()
            for isOwn in [true, false] {
                let asked = Asked()
                let row = MessageRow(
                    isOwn: isOwn, media: MediaPresenter(service: fixture.backend), outputs: asked.outputs)
                row.show(Self.item(.sent, isOwn: isOwn), selected: nil)
                XCTAssertNil(row.failedMessageBar)
                row.show(
                    Self.item(.sent, isOwn: isOwn) {
                        $0.pendingChange = PendingChange(
                            transaction: TransactionID("c"), kind: isOwn ? .edit : .reaction, isRejected: true)
                    }, selected: nil)
                let window = TestWindow(row.widget, width: 360, height: 200)
                let bar = try XCTUnwrap(row.failedMessageBar)
                XCTAssertTrue(bar.widget.isMapped)
                XCTAssertEqual(bar.text.text, isOwn ? "Could not save edit" : "Could not change reaction")
                XCTAssertTrue(row.accessibleText.contains(bar.text.text), row.accessibleText)
                try RealInput.activate(window.window)
                try RealInput.point(at: bar.retry)
                try RealInput.click()
                XCTAssertTrue(MainLoop.pump { asked.actions == [.retry] })
                try RealInput.point(at: bar.discard)
                try RealInput.click()
                XCTAssertTrue(MainLoop.pump { asked.actions == [.retry, .requestDiscard] })
                window.close()
            }
            try fixture.close()
        }
    }

    func testUploadShowsProgressAndCanBeCanceled() throws {
        try onMain {
            let fixture = try ChatFixture()
            let asked = Asked()
            let row = MessageRow(isOwn: true, media: MediaPresenter(service: fixture.backend), outputs: asked.outputs)
            row.show(Self.item(.sending) { $0.upload = 0.25 }, selected: nil)
            let window = TestWindow(row.widget, width: 360, height: 200)
            let bar = try XCTUnwrap(row.upload)
            XCTAssertTrue(bar.widget.isMapped)
            XCTAssertEqual(bar.fraction, 0.25)
            row.show(Self.item(.sending) { $0.upload = 0.5 }, selected: nil)
            XCTAssertEqual(bar.fraction, 0.5)
            try RealInput.activate(window.window)
            try RealInput.point(at: bar.cancel)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { asked.actions == [.requestDiscard] })
            row.show(Self.item(.sending), selected: nil)
            XCTAssertTrue(MainLoop.pump { !bar.widget.isMapped })
            window.close()
            try fixture.close()
        }
    }

    func testFailedMessageCanBeRetriedOrDiscarded() throws {
        try onMain {
            let fixture = try ChatFixture()
            let asked = Asked()
            let row = MessageRow(isOwn: true, media: MediaPresenter(service: fixture.backend), outputs: asked.outputs)
            row.show(Self.item(.failed), selected: nil)
            let window = TestWindow(row.widget, width: 360, height: 200)
            let bar = try XCTUnwrap(row.failedMessageBar)
            XCTAssertTrue(bar.widget.isMapped)
            XCTAssertTrue(row.accessibleText.contains("Not sent"), row.accessibleText)
            try RealInput.activate(window.window)
            try RealInput.point(at: bar.retry)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { asked.actions == [.retry] })
            try RealInput.point(at: bar.discard)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { asked.actions == [.retry, .requestDiscard] })
            for delivery in [Message.Delivery.sending, .sent] {
                row.show(Self.item(delivery), selected: nil)
                XCTAssertTrue(MainLoop.pump { !bar.widget.isMapped }, "\(delivery)")
            }
            window.close()
            try fixture.close()
        }
    }

    func testFailedMessageSaysWhy() throws {
        try onMain {
            let fixture = try ChatFixture()
            for isOwn in [true, false] {
                let row = MessageRow(
                    isOwn: isOwn, media: MediaPresenter(service: fixture.backend), outputs: Asked().outputs)
                let change = PendingChange(
                    transaction: TransactionID("c"), kind: .reaction, isRejected: true, failure: .changedIdentity)
                let item = Self.item(isOwn ? .failed : .sent, isOwn: isOwn) {
                    if isOwn { $0.failure = .changedIdentity } else { $0.pendingChange = change }
                }
                row.show(item, selected: nil)
                let window = TestWindow(row.widget, width: 360, height: 240)
                let bar = try XCTUnwrap(row.failedMessageBar)
                let explanation = try XCTUnwrap(bar.explanation)
                XCTAssertTrue(MainLoop.pump { explanation.isMapped })
                XCTAssertTrue(explanation.text.hasPrefix("The identity of someone you verified"), explanation.text)
                XCTAssertTrue(row.accessibleText.contains(explanation.text), row.accessibleText)
                XCTAssertLessThanOrEqual(row.widget.width, 360, "it wraps")
                row.show(
                    Self.item(isOwn ? .failed : .sent, isOwn: isOwn) {
                        if isOwn { return }
                        $0.pendingChange = PendingChange(
                            transaction: TransactionID("c"), kind: .reaction, isRejected: true)
                    }, selected: nil)
                XCTAssertTrue(MainLoop.pump { !explanation.isMapped && bar.widget.isMapped }, "its reason is not known")
                window.close()
            }
            try fixture.close()
        }
    }

    /// Discards several messages with the selection bar and its keyboard actions.
    func testSeveralFailedMessagesCanBeDiscardedAtOnce() throws {
        try onMain {
            let first = try ChatFixture()
            let room = try first.openRoom().timeline.roomID
            let member = try finish { try await first.store.members(of: room).first { $0.kind == .own }?.id }
            for number in 1...3 {
                let new = NewMessage(
                    id: MessageID("unsent\(number)"), sender: try XCTUnwrap(member), text: "Lost \(number)",
                    sentAt: Date(timeIntervalSince1970: 1_767_323_045), transactionID: TransactionID("t\(number)"),
                    delivery: number == 3 ? .sent : .failed)
                _ = try finish { try await first.store.append(new, to: room) }
            }
            let fixture = try ChatFixture(reopening: first)
            fixture.coordinator.start(opening: room)
            XCTAssertTrue(MainLoop.pump { fixture.coordinator.conversation?.timeline.state.isLoaded == true })
            let conversation = try XCTUnwrap(fixture.coordinator.conversation)
            XCTAssertEqual(conversation.timeline.state.failedCount, 2)
            let view = ConversationBench.Requests().makeView(of: conversation)
            let window = TestWindow(view.widget, width: 480, height: 500)
            XCTAssertTrue(MainLoop.pump { view.retryBar.discard.isMapped })
            try RealInput.activate(window.window)
            try RealInput.point(at: view.retryBar.discard)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
            let dialog = try XCTUnwrap(OpenDialogs.alert)
            XCTAssertEqual(dialog.text(ofProperty: "heading"), "Discard 2 Messages?")
            dialog.respond("confirm")
            XCTAssertTrue(MainLoop.pump { conversation.timeline.state.failedCount == 0 })
            XCTAssertTrue(MainLoop.pump { !view.retryBar.widget.isRevealed })
            let left = try finish { try await fixture.store.messages(in: room, before: .max, limit: 10) }.messages
            XCTAssertEqual(left.filter { !$0.isDeleted }.map(\.text), ["Lost 3"])
            window.close()
            try fixture.close()
        }
    }

    /// The server's event has another ID than the local echo.
    func testLongPressOpensTheMenuOfAMessageThatIsSentMeanwhile() throws {
        try onMain {
            let bench = try ConversationBench(30)
            @MainActor func own(_ number: Int, at position: Int64, _ delivery: Message.Delivery) -> Message {
                Message(
                    id: MessageID("m\(number)"), roomID: ConversationBench.room, sender: ConversationBench.own,
                    text: "Hello", sentAt: Date(timeIntervalSince1970: 1_768_000_000), position: position,
                    transactionID: TransactionID("t"), delivery: delivery)
            }
            let pointer = try XCTUnwrap(bench.timeline.pointer)
            bench.model.apply(.changed([own(30, at: 1 << 40, .sending)]))
            bench.waitUntilIdle()
            let y = bench.bottom(30) - 12
            pointer.beginTouch(y: y)
            bench.model.apply(.removed([MessageID("m30")]))
            bench.model.apply(.changed([own(31, at: 31, .sent)]))
            bench.waitUntilIdle()
            pointer.hold(x: 100, y: y)
            XCTAssertTrue(bench.wait { bench.timeline.menu.isOpen })
            var target: MessageID?
            bench.timeline.menu.onAction = { message, _ in target = message }
            XCTAssertTrue(bench.view.widget.activateAction("message.reply"))
            XCTAssertEqual(target, MessageID("m31"))
            try bench.press("Escape")
            XCTAssertTrue(bench.wait { !bench.timeline.menu.isOpen })
            try bench.close()
        }
    }
}
