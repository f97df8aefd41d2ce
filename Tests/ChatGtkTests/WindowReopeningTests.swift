import CGtk
import ChatCore
import ChatViewModels
import Composer
import GtkKit
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// The session continues while its window is closed and reopened.
final class WindowReopeningTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.ReopeningTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    func testWindowIsClosedAndReopenedAHundredTimes() throws {
        try onMain {
            let fixture = try ChatFixture()
            let room = try fixture.openRoom(named: "Plans").roomID
            let accounts = AccountsCoordinator(local: fixture.coordinator)
            let caret = try Self.useOnce(accounts) { conversation in
                conversation.composer.handle(.insert("first ", origin: .typed))
                conversation.composer.handle(.insert("second", origin: .paste))
                conversation.composer.handle(.select(TextRange(location: 3, length: 0)))
                return conversation.composer.state.composer.selection
            }
            var closures = 0
            for round in 2...100 {
                let found = try Self.useOnce(accounts) { conversation in
                    XCTAssertEqual(conversation.roomID, room, "round \(round)")
                    XCTAssertEqual(conversation.composer.document.text, "first second", "round \(round)")
                    return conversation.composer.state.composer.selection
                }
                XCTAssertEqual(found, caret, "round \(round)")
                if round == 2 { closures = ClosureCount.live }
            }
            XCTAssertTrue(
                MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures) closures")
            let backend = fixture.backend
            XCTAssertEqual(try finish { try await backend.draft(in: room) }?.preview, "first second")
            _ = try Self.useOnce(accounts) { conversation in
                conversation.composer.handle(.undo)
                XCTAssertEqual(conversation.composer.document.text, "first ", "undo goes back before the first closing")
                return conversation.composer.state.composer.selection
            }
            try fixture.close()
        }
    }

    func testRoomOpenedWithoutAWindowIsShownInTheNextOne() throws {
        try onMain {
            let fixture = try ChatFixture()
            let plans = try fixture.openRoom(named: "Plans").roomID
            let other = try fixture.openRoom(named: "Other").roomID
            let accounts = AccountsCoordinator(local: fixture.coordinator)
            _ = try Self.useOnce(accounts) { $0.roomID }
            fixture.coordinator.rooms.send(.select(plans))
            XCTAssertNil(fixture.coordinator.conversation, "nothing is open without a window")
            XCTAssertEqual(try Self.useOnce(accounts) { $0.roomID }, plans)
            fixture.coordinator.rooms.send(.leave(plans))
            XCTAssertTrue(MainLoop.pump { !fixture.coordinator.rooms.state.rows.contains { $0.id == plans } })
            fixture.coordinator.rooms.send(.select(other))
            XCTAssertEqual(try Self.useOnce(accounts) { $0.roomID }, other)
            try fixture.close()
        }
    }

    /// Opens a window, uses its conversation, and closes it.
    @MainActor
    private static func useOnce<R>(_ accounts: AccountsCoordinator, _ use: (Conversation) -> R) throws -> R {
        var (isClosed, isFinalized) = (false, false)
        weak var conversation: Conversation?
        weak var timeline: TimelineViewModel?
        let result: R
        do {
            let window = MainWindow(application: application, accounts: accounts, settings: nil)
            window.window.onFinalize { isFinalized = true }
            window.onClosed = { isClosed = true }
            window.present()
            guard
                MainLoop.pump(until: {
                    window.window.isMapped && accounts.conversations.conversation?.timeline.state.isLoaded == true
                        && accounts.conversations.conversation?.composer.state.isReady == true
                }), let open = accounts.conversations.conversation
            else { throw TimedOut() }
            XCTAssertTrue(window.content.conversationView != nil)
            (conversation, timeline) = (open, open.timeline)
            result = use(open)
            window.close()
        }
        guard MainLoop.pump(until: { isClosed && isFinalized && conversation == nil && timeline == nil }) else {
            throw NotFreed(
                window: !isFinalized, conversation: conversation != nil, timeline: timeline != nil)
        }
        XCTAssertNil(accounts.conversations.openItem)
        return result
    }

    private struct NotFreed: Error {
        let window: Bool
        let conversation: Bool
        let timeline: Bool
    }
}
