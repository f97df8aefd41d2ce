import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Observation
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10)))
final class NotificationCoordinatorTests {
    private let service = FakeChatService()
    private let desktop = FakeNotificationPresenter()
    private let preferences = UserPreferences()
    private let accounts: AccountsCoordinator
    private var coordinator: NotificationCoordinator?
    private var isLocked = false
    private let plans = RoomID("plans")
    private let start = localTime(2026, 3, 10)

    init() {
        let local = ConversationCoordinator(service: service, now: { [start] in start })
        accounts = AccountsCoordinator(local: local)
        local.start(opening: nil)
        coordinator = NotificationCoordinator(
            accounts, presenter: desktop, preferences: preferences, translator: .untranslated,
            isLocked: { [weak self] in self?.isLocked == true }, start: start)
    }

    /// Publishes the rooms and waits until they are listed.
    private func list(_ unread: [String: Int], at date: Date? = nil) async {
        let summaries = unread.sorted { $0.key < $1.key }.map { name, count in
            var summary = RoomSummary.of(name, at: date ?? start)
            summary.unreadCount = count
            return summary
        }
        service.publish(summaries)
        let rooms = accounts.local.rooms
        await eventually {
            rooms.state.isLoaded && rooms.state.rows.count == unread.count
                && rooms.state.rows.allSatisfy { $0.unreadCount == unread[$0.id.rawValue] }
        }
    }

    private func arrive(
        _ text: String, in room: String = "plans", from sender: String = "Ann", after seconds: Double = 1,
        isMissed: Bool = false, isSealed: Bool = false, wasRead: Bool = false, trust: MessageTrust? = nil
    ) {
        var message = Message(
            id: MessageID("$\(text)"), roomID: RoomID(room), sender: MemberID("@\(sender):example.org"), text: text,
            sentAt: start.addingTimeInterval(seconds), position: 1)
        if isSealed { message.content = Message.Content(sealed: .noKey) }
        message.trust = trust
        service.arrive(
            MessageArrival(
                message: message, senderName: sender, level: .unread, isMissed: isMissed, wasRead: wasRead))
    }

    private func shown() -> [RoomNotification] { desktop.shown.values.sorted { $0.title < $1.title } }

    @Test func messagesOfARoomAreOneNotification() async {
        await list(["plans": 0])
        arrive("one")
        await eventually { self.shown().first?.body == "Ann: one" }
        arrive("two", from: "Bo")
        await eventually { self.shown().first?.body == "Ann: one\nBo: two" }
        #expect(shown().count == 1 && shown()[0].title == "Room plans")
        #expect(
            shown()[0].target
                == NotificationTarget(
                    account: AccountsCoordinator.localID, room: plans, message: MessageID("$two")))
        #expect(shown()[0].isAnswerable && shown()[0].acceptsReply)
    }

    @Test("A notification offers no reply in a room in which the user may not send messages, or which was upgraded")
    func roomWithoutReplies() async {
        await list(["plans": 0])
        service.headlines[plans] = RoomHeadline(forbiddenMessages: .unencrypted)
        arrive("one")
        await eventually { self.shown().first?.body == "Ann: one" }
        #expect(shown()[0].isAnswerable && !shown()[0].acceptsReply)
        service.encryption = { _ in true }
        arrive("two")
        await eventually { self.shown().first?.body == "Ann: one\nAnn: two" }
        #expect(shown()[0].acceptsReply, "it is encrypted")
        service.successions[plans] = RoomSuccession(next: "other")
        arrive("three")
        await eventually { self.shown().first?.body == "Ann: one\nAnn: two\nAnn: three" }
        #expect(!shown()[0].acceptsReply)
    }

    @Test func messageThatCannotBeReadIsShownWithoutText() async {
        await list(["plans": 0])
        arrive("one", isSealed: true)
        await eventually { self.shown().first?.body == "Ann: Encrypted message" }
    }

    @Test("What the timeline warns of is shown behind its warning")
    func doubtfulMessages() async {
        await list(["plans": 0])
        arrive("one", trust: .notEncrypted)
        await eventually { self.shown().first?.body == "Ann: Not encrypted: one" }
        arrive("two", trust: .changedIdentity)
        arrive("three", trust: .unproven)
        await eventually {
            self.shown().first?.body == "Ann: Not encrypted: one\nAnn: Identity changed: two\nAnn: three"
        }
    }

    @Test("Reading the room, here or on another device, withdraws its notification, and the next one starts over")
    func readingWithdraws() async {
        await list(["plans": 0])
        arrive("one")
        #expect(coordinator?.isEmpty == true)
        await eventually { !self.desktop.shown.isEmpty }
        #expect(coordinator?.isEmpty == false)
        await list(["plans": 1], at: start.addingTimeInterval(1))
        await list(["plans": 0], at: start.addingTimeInterval(1))
        await eventually { self.desktop.shown.isEmpty }
        #expect(coordinator?.isEmpty == true)
        arrive("two", after: 2)
        await eventually { self.shown().first?.body == "Ann: two" }
    }

    @Test("A room list that does not count the message yet does not withdraw its notification")
    func listThatIsBehindWithdrawsNothing() async {
        await list(["plans": 0, "other": 0])
        arrive("one", after: 60)
        await eventually { !self.desktop.shown.isEmpty }
        await list(["plans": 0, "other": 1])
        #expect(desktop.shown.count == 1)
        await list(["plans": 0, "other": 1], at: start.addingTimeInterval(60))
        await eventually { self.desktop.shown.isEmpty }
    }

    @Test("The first message of a room that is not listed yet stays until it is read")
    func firstMessageOfANewRoomStays() async {
        await list(["other": 0])
        arrive("one", after: 60)
        await eventually { !self.desktop.shown.isEmpty }
        await list(["other": 1])
        await waitUntilIdle()
        #expect(desktop.shown.count == 1, "a room that was never listed was not left")
        await list(["other": 1, "plans": 1], at: start.addingTimeInterval(60))
        await waitUntilIdle()
        #expect(desktop.shown.count == 1)
        await list(["other": 1, "plans": 0], at: start.addingTimeInterval(60))
        await eventually { self.desktop.shown.isEmpty }
    }

    @Test("An invitation that was accepted elsewhere does not withdraw the room's first message with itself")
    func acceptedInvitationLeavesTheMessage() async {
        await list(["other": 0])
        service.publish([
            Invitation(room: plans, name: "Plans", inviterName: "Ann", receivedAt: start.addingTimeInterval(60))
        ])
        await eventually { self.shown().map(\.kind) == [.invitation] }
        arrive("one", after: 61)
        await eventually { self.shown().map(\.kind) == [.messages] }
        service.publish([Invitation]())
        await eventually { self.accounts.local.rooms.state.invitations.isEmpty }
        await waitUntilIdle()
        #expect(shown().map(\.kind) == [.messages])
    }

    @Test func leavingTheRoomWithdraws() async {
        await list(["plans": 0, "other": 0])
        arrive("one")
        await eventually { !self.desktop.shown.isEmpty }
        await list(["other": 0])
        await eventually { self.desktop.shown.isEmpty }
    }

    @Test func roomThatTheUserSeesIsSilent() async {
        await list(["plans": 0, "other": 0])
        accounts.local.rooms.send(.select(plans))
        accounts.attend(true)
        arrive("seen")
        arrive("not seen", in: "other")
        await eventually { !self.desktop.shown.isEmpty }
        #expect(shown().map(\.title) == ["Room other"])
        accounts.attend(false)
        arrive("not seen either")
        await eventually { self.desktop.shown.count == 2 }
    }

    @Test("A room being read in its own window does not notify; the one in the main window behind it does")
    func roomReadInItsOwnWindowIsSilent() async {
        await list(["plans": 0, "other": 0])
        accounts.local.rooms.send(.select(RoomID("other")))
        let window = AccountRoom(AccountsCoordinator.localID, plans)
        accounts.local.openWindow(of: plans)
        accounts.attend(true, inWindowOf: window)
        arrive("seen")
        arrive("not seen", in: "other")
        await eventually { self.shown().map(\.title) == ["Room other"] }
        accounts.attend(true)
        accounts.attend(false, inWindowOf: window)
        arrive("not seen either")
        await eventually { self.shown().map(\.title) == ["Room other", "Room plans"] }
        // Instead of the room, the main window shows a placeholder, so the room's messages are not seen there.
        accounts.local.rooms.send(.select(plans))
        #expect(accounts.attendedRoom == nil)
    }

    @Test("A click on the notification of a room with a window of its own changes nothing in the main window")
    func clickGoesToTheRoomsWindow() async throws {
        await list(["plans": 0, "other": 0])
        accounts.local.rooms.send(.select(RoomID("other")))
        accounts.local.openWindow(of: plans)
        let target = NotificationTarget(account: AccountsCoordinator.localID, room: plans)
        #expect(accounts.hasWindow(of: target))
        accounts.show(target)
        let window = try #require(accounts.local.roomWindows.first)
        await eventually { window.requests.state.pending.map(\.request) == [.present] }
        #expect(accounts.local.openItem == .room(RoomID("other")))
    }

    @Test("Behind a locked screen, nobody sees the open room")
    func openRoomNotifiesWhileTheScreenIsLocked() async {
        await list(["plans": 0])
        accounts.local.rooms.send(.select(plans))
        accounts.attend(true)
        isLocked = true
        arrive("secret")
        await eventually { self.shown().first?.body == "1 new message from Ann" }
    }

    @Test func lockedScreenHidesTheText() async {
        await list(["plans": 0])
        isLocked = true
        arrive("secret")
        await eventually { !self.desktop.shown.isEmpty }
        #expect(shown()[0].body == "1 new message from Ann")
    }

    @Test func whatWasMissedIsSummarized() async {
        await list(["plans": 0, "other": 0])
        arrive("one", isMissed: true)
        arrive("two", after: 2, isMissed: true)
        arrive("three", in: "other", after: 3, isMissed: true)
        await eventually { self.shown().first?.title == "3 new messages" }
        #expect(shown().count == 1 && shown()[0].body == "In 2 rooms" && !shown()[0].isAnswerable)
        await list(["plans": 2, "other": 1], at: start.addingTimeInterval(3))
        await list(["plans": 0, "other": 1], at: start.addingTimeInterval(3))
        #expect(desktop.shown.count == 1)
        await list(["plans": 0, "other": 0], at: start.addingTimeInterval(3))
        await eventually { self.desktop.shown.isEmpty }
    }

    @Test func invitationsAreShownUntilTheyAreAnswered() async {
        await list(["plans": 0])
        let old = Invitation(room: RoomID("old"), name: "Old", receivedAt: start.addingTimeInterval(-60))
        let new = Invitation(
            room: RoomID("new"), name: "Garden", inviterName: "Ann", receivedAt: start.addingTimeInterval(60))
        service.publish([new, old])
        await eventually { !self.desktop.shown.isEmpty }
        #expect(shown().map(\.title) == ["Garden"] && shown()[0].body == "Invitation from Ann")
        service.publish([old])
        await eventually { self.desktop.shown.isEmpty }
    }

    @Test func failedMessageIsShownUntilItIsSentOrDiscarded() async {
        await list(["plans": 0])
        var summary = RoomSummary.of("plans", at: start)
        summary.lastMessage = RoomSummary.LastMessage(
            senderName: "Robin", isOwn: true, text: "Hi", sentAt: start, delivery: .failed)
        service.publish([summary])
        await eventually { !self.desktop.shown.isEmpty }
        #expect(shown()[0].kind == .failure && shown()[0].title == "Room plans")
        summary.lastMessage?.delivery = .sent
        service.publish([summary])
        await eventually { self.desktop.shown.isEmpty }
    }

    @Test("An inline reply is sent to its room and marks it as read; a blank one does nothing")
    func answersAreSent() async {
        await list(["plans": 0])
        accounts.detachWindow()
        let target = NotificationTarget(account: AccountsCoordinator.localID, room: plans, message: MessageID("$one"))
        let sent = Recorder<WrittenMessage>()
        service.onSend = { sent.record($0) }
        service.drafts[plans] = SavedDraft(data: Data([1]), preview: "draft")
        await accounts.send(" \n", answering: target)
        #expect(sent.values.isEmpty && !service.calls.contains(.markRead(MessageID("$one"))))
        await accounts.send("At *three*", answering: target)
        #expect(sent.values.map(\.text) == [WrittenText("At *three*")])
        #expect(service.drafts[plans]?.preview == "draft", "what is in the composer stays")
        #expect(service.calls.contains(.markRead(MessageID("$one"))))
    }

    @Test("An inline reply that cannot be sent is added to its room's draft")
    func failedAnswerBecomesTheDraft() async throws {
        await list(["plans": 0])
        accounts.local.rooms.send(.select(plans))
        let conversation = try #require(accounts.local.conversation)
        await eventually { conversation.composer.state.isReady }
        service.before = { if case .send = $0 { throw ChatError.diskFull } }
        let target = NotificationTarget(account: AccountsCoordinator.localID, room: plans)
        await accounts.send("At three", answering: target)
        #expect(conversation.composer.document.text == "At three")
        #expect(accounts.local.toasts == [.failed(.diskFull)])
    }

    @Test("An inline reply that cannot be sent goes below what the draft has, whatever is selected there")
    func failedAnswerReplacesNothing() async throws {
        await list(["plans": 0])
        accounts.local.rooms.send(.select(plans))
        let composer = try #require(accounts.local.conversation).composer
        await eventually { composer.state.isReady }
        composer.handle(.load(WrittenText("half"), selection: TextRange(location: 0, length: 4)))
        service.before = { if case .send = $0 { throw ChatError.diskFull } }
        let target = NotificationTarget(account: AccountsCoordinator.localID, room: plans)
        await accounts.send("At three", answering: target)
        #expect(composer.document.text == "half\nAt three")
        #expect(composer.state.composer.selection == TextRange(location: 0, length: 4))
    }

    @Test("An inline reply that cannot be sent stays out of an edit, and is in the draft after it")
    func failedAnswerStaysOutOfAnEdit() async throws {
        await list(["plans": 0])
        accounts.local.rooms.send(.select(plans))
        let composer = try #require(accounts.local.conversation).composer
        await eventually { composer.state.isReady }
        composer.handle(.load(WrittenText("half")))
        composer.send(.startEdit(MessageID("m1"), WrittenText("old")))
        service.before = { if case .send = $0 { throw ChatError.diskFull } }
        let target = NotificationTarget(account: AccountsCoordinator.localID, room: plans)
        await accounts.send("At three", answering: target)
        #expect(composer.document.text == "old")
        composer.handle(.cancelEdit)
        #expect(composer.document.text == "half\nAt three")
    }

    @Test func markingAsReadNeedsNoWindow() async {
        await list(["plans": 0])
        accounts.detachWindow()
        await accounts.markRead(
            NotificationTarget(account: AccountsCoordinator.localID, room: plans, message: MessageID("$one")))
        #expect(service.calls.contains(.markRead(MessageID("$one"))))
    }
}

@MainActor @Observable
final class FakeNotificationPresenter: RoomNotificationPresenter {
    private(set) var shown: [String: RoomNotification] = [:]

    func show(_ notification: RoomNotification, as id: String, media: any MediaService) { shown[id] = notification }
    func withdraw(_ id: String) { shown[id] = nil }
}
