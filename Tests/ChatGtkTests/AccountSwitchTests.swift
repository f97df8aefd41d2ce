import CGtk
import ChatCore
import ChatTestSupport
import ComposerSessions
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import TimelineGtk

/// One main window shows one account after another.
final class AccountSwitchTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.AccountSwitchTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    /// The room stays open in its account, which goes on receiving messages.
    func testMessagesOfTheAccountThatWasLeftAreNotMarkedAsRead() throws {
        try onMain {
            let clock = ManualClock()
            let (fixture, other) = (try ChatFixture(time: Timekeeper(clock)), try ChatFixture())
            let accounts = AccountsCoordinator(local: fixture.coordinator, service: SingleAccount()) {
                [weak other] _, _ in other?.coordinator
            }
            accounts.start(showing: AccountsCoordinator.localID)
            fixture.coordinator.start(opening: nil)
            _ = try other.openRoom(named: "Plans")
            XCTAssertTrue(
                MainLoop.pump {
                    fixture.coordinator.conversation?.timeline.state.isLoaded == true
                        && accounts.coordinatorIDs.contains(SingleAccount.id)
                })
            let rooms = fixture.coordinator.rooms
            let unread = rooms.state.unreadTotal
            XCTAssertGreaterThan(unread, 0)
            let window = MainWindow(application: Self.application, accounts: accounts, settings: nil)
            window.present()
            try RealInput.activate(window.window)
            XCTAssertTrue(
                MainLoop.pump {
                    guard let list = window.content.conversationView?.timeline.list else { return false }
                    return accounts.isAttended && list.isLaidOut && list.count > 0 && !list.isBusy
                })
            accounts.select(SingleAccount.id)
            let shown = { window.content.conversationView?.conversation }
            XCTAssertTrue(MainLoop.pump { shown() != nil && shown() === other.coordinator.conversation })
            XCTAssertNotNil(fixture.coordinator.conversation, "it is still open")
            clock.advance(by: .seconds(60))
            try finish { await waitUntilIdle() }
            XCTAssertEqual(rooms.state.unreadTotal, unread, "nobody sees it")
            accounts.select(AccountsCoordinator.localID)
            let isRead = {
                clock.advance(by: .seconds(1))
                return rooms.state.unreadTotal == 0
            }
            XCTAssertTrue(MainLoop.pump(until: isRead), "until the account is shown again")
            window.close()
            XCTAssertTrue(MainLoop.pump { !window.window.isMapped && fixture.coordinator.conversation == nil })
            try other.close()
            try fixture.close()
        }
    }
}
