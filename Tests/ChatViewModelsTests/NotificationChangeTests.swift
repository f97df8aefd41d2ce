import ChatCore
import ChatTestSupport
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

/// Notifications of messages that are read, edited or deleted.
@MainActor @Suite(.timeLimit(.minutes(10)))
final class NotificationChangeTests {
    private let service = FakeChatService()
    private let desktop = FakeNotificationPresenter()
    private let clock = ManualClock()
    private let accounts: AccountsCoordinator
    private var coordinator: NotificationCoordinator?
    private let plans = RoomID("plans")
    private let other = RoomID("other")
    private let start = localTime(2026, 3, 10)

    init() {
        let local = ConversationCoordinator(service: service, time: Timekeeper(clock), now: { [start] in start })
        accounts = AccountsCoordinator(local: local)
        local.start(opening: nil)
        coordinator = NotificationCoordinator(
            accounts, presenter: desktop, preferences: UserPreferences(), translator: .untranslated,
            isLocked: { false }, start: start)
    }

    /// Publishes the rooms and waits until they are listed.
    private func list(plans count: Int, at seconds: Double = 0) async {
        var summary = RoomSummary.of("plans", at: start + seconds)
        summary.unreadCount = count
        service.publish([summary, RoomSummary.of("other", at: start)])
        let rooms = accounts.local.rooms
        await eventually { [plans] in
            rooms.state.isLoaded && rooms.state.rows.count == 2
                && rooms.state.rows.contains { $0.id == plans && $0.unreadCount == count }
        }
    }

    private func message(_ number: Int, _ text: String) -> Message {
        Message(
            id: MessageID("$\(number)"), roomID: plans, sender: MemberID("@ann:example.org"), text: text,
            sentAt: start.addingTimeInterval(Double(number)), position: Int64(number))
    }

    /// Waits until the notification says this, and observes changes.
    private func arrive(_ number: Int, _ text: String, wasRead: Bool = false, shows body: String) async {
        service.arrive(
            MessageArrival(message: message(number, text), senderName: "Ann", level: .mention, wasRead: wasRead))
        await eventually { [plans, service] in self.body == body && service.timelines[plans] != nil }
    }

    private var body: String? { desktop.shown.values.first?.body }

    private func change(_ messages: Message...) { service.publish(.changed(messages), in: plans) }

    @Test("Of the room list, a notification needs the rows of rooms with notifications alone")
    func rowsOfRooms() async {
        await list(plans: 1)
        let state = accounts.local.rooms.state
        #expect(AccountNotifications.rows(of: [], in: state).isEmpty)
        let rows = AccountNotifications.rows(of: [plans, RoomID("gone")], in: state)
        #expect(rows.map(\.key) == [plans] && rows[plans]?.unreadCount == 1)
    }

    @Test("A mention that an edit adds to a message that was read stays until the room is attended.")
    func attendingWithdraws() async {
        await list(plans: 0, at: 60)
        await arrive(1, "for you", wasRead: true, shows: "Ann: for you")
        await list(plans: 0, at: 61)
        await waitUntilIdle()
        #expect(body == "Ann: for you", "the room list does not count it, and is no older than it")
        accounts.local.rooms.send(.select(other))
        accounts.attend(true)
        await waitUntilIdle()
        #expect(body == "Ann: for you")
        accounts.local.rooms.send(.select(plans))
        await eventually { self.desktop.shown.isEmpty }
        #expect(coordinator?.isEmpty == true)
    }

    @Test("It goes when later messages are read, on any device.")
    func readingLaterMessagesWithdraws() async {
        await list(plans: 0, at: 60)
        await arrive(1, "for you", wasRead: true, shows: "Ann: for you")
        await list(plans: 1, at: 61)
        #expect(body == "Ann: for you")
        await list(plans: 0, at: 61)
        await eventually { self.desktop.shown.isEmpty }
    }

    @Test("A message that the room list counted before it was announced is withdrawn, even if its date is wrong.")
    func wrongDate() async {
        await list(plans: 1)
        await arrive(1_000_000, "tomorrow", shows: "Ann: tomorrow")
        await list(plans: 0)
        await eventually { self.desktop.shown.isEmpty }
    }

    @Test("The text of a deleted message leaves its notification, and the last one withdraws it.")
    func deletion() async {
        await list(plans: 0)
        await arrive(1, "one", shows: "Ann: one")
        await arrive(2, "secret", shows: "Ann: one\nAnn: secret")
        var deleted = message(2, "")
        deleted.isDeleted = true
        change(deleted)
        await eventually { self.body == "Ann: one" }
        #expect(desktop.shown.values.first?.target.message == MessageID("$1"))
        #expect(desktop.shown.values.first?.playsSound == false)
        await arrive(3, "three", shows: "Ann: one\nAnn: three")
        service.publish(.removed([MessageID("$1"), MessageID("$3")]), in: plans)
        await eventually { self.desktop.shown.isEmpty }
        #expect(coordinator?.isEmpty == true)
    }

    @Test("An edit replaces the text, and a message that arrives again is not told twice.")
    func edit() async {
        await list(plans: 0)
        await arrive(1, "at two", shows: "Ann: at two")
        await arrive(2, "fine", shows: "Ann: at two\nAnn: fine")
        change(message(1, "at three"), message(9, "unknown"))
        await eventually { self.body == "Ann: at three\nAnn: fine" }
        await arrive(1, "at four", shows: "Ann: fine\nAnn: at four")
    }

    @Test("Of many edits in succession, a notification shows the latest once a second.")
    func manyEdits() async {
        await list(plans: 0)
        await arrive(1, "one", shows: "Ann: one")
        change(message(1, "two"))
        await eventually { self.body == "Ann: two" }
        for text in ["three", "four", "five"] { change(message(1, text)) }
        await clock.waitForSleepers()
        await waitUntilIdle()
        #expect(body == "Ann: two")
        clock.advance(by: .seconds(1))
        await eventually { self.body == "Ann: five" }
        clock.advance(by: .seconds(1))
        change(message(1, "six"))
        await eventually { self.body == "Ann: six" }
        // A notification that is withdrawn meanwhile does not come back.
        change(message(1, "seven"))
        await clock.waitForSleepers()
        service.publish(.removed([MessageID("$1")]), in: plans)
        await eventually { self.desktop.shown.isEmpty }
        clock.advance(by: .seconds(1))
        await waitUntilIdle()
        #expect(desktop.shown.isEmpty)
    }

    /// Shows a notification as an earlier process did, of which this one knows nothing.
    private func showEarlier(_ room: RoomID) {
        let target = NotificationTarget(account: AccountsCoordinator.localID, room: room)
        desktop.show(
            RoomNotification(kind: .messages, target: target, title: room.rawValue, body: "1 new message"),
            as: target.text, media: service)
    }

    private var titles: [String] { desktop.shown.values.map(\.title).sorted() }

    @Test("Notifications of an earlier process are withdrawn once their rooms are read, and the summary once all are.")
    func earlierProcess() async {
        accounts.detachWindow()
        for room in [plans, other, RoomID("")] { showEarlier(room) }
        await list(plans: 1)
        await clock.waitForSleepers()
        clock.advance(by: EarlierNotifications.interval)
        await eventually { self.titles == ["", "plans"] }
        await list(plans: 0)
        await eventually { self.desktop.shown.isEmpty }
    }

    @Test("What this process shows of rooms that the list counts as read is no notification of an earlier one.")
    func newerThanTheEarlierProcess() async {
        accounts.detachWindow()
        showEarlier(other)
        await list(plans: 0)
        service.arrive(MessageArrival(message: message(1, "one"), senderName: "Ann", level: .unread))
        await eventually { self.titles == ["Room plans", "other"] }
        await clock.waitForSleepers()
        clock.advance(by: EarlierNotifications.interval)
        await eventually { self.titles == ["Room plans"] }
    }

    @Test("A deletion that came before changes were observed counts.")
    func deletionBefore() async {
        var deleted = message(1, "")
        deleted.isDeleted = true
        service.openings[plans] = .opened(
            TimelinePage(messages: [deleted], hasOlder: false), members: [], fullyReadMarker: nil)
        await list(plans: 0)
        service.arrive(MessageArrival(message: message(1, "secret"), senderName: "Ann", level: .unread))
        await eventually { [plans, service] in self.desktop.shown.isEmpty && service.timelines[plans] != nil }
    }
}
