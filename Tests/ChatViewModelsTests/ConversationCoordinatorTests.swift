import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(5))) struct ConversationCoordinatorTests {
    private let service = FakeChatService()
    private let clock = ManualClock()
    private let wallClock = Recorder<Date>()
    private let coordinator: ConversationCoordinator
    private let a = RoomID("a")
    private let b = RoomID("b")

    init() {
        wallClock.record(localTime(2026, 3, 10))
        coordinator = ConversationCoordinator(
            service: service, time: Timekeeper(clock), now: { [wallClock] in wallClock.values.last! })
        for room in ["a", "b"] {
            service.openings[RoomID(room)] = .opened(
                TimelinePage(messages: [own("m1", in: room), own("m2", in: room)], hasOlder: false),
                members: [Fixtures.own, Fixtures.other], fullyReadMarker: nil)
        }
    }

    private func own(_ id: String, in room: String, isDeleted: Bool = false) -> Message {
        Message(
            id: MessageID(id), roomID: RoomID(room), sender: Fixtures.own.id, text: "Text of \(id)",
            sentAt: localTime(2026, 3, 10), position: Int64(id.dropFirst())!, isDeleted: isDeleted)
    }

    private func show(_ rooms: [String]) async {
        service.tell(rooms.map { .of($0, at: localTime(2026, 3, 10)) })
        await eventually { [coordinator] in coordinator.rooms.state.rows.map(\.id.rawValue) == rooms }
    }

    /// Opens a room and waits for its messages and its draft.
    @discardableResult
    private func open(_ room: RoomID) async -> Conversation {
        coordinator.rooms.send(.select(room))
        let conversation = coordinator.conversation!
        await eventually {
            conversation.roomID == room && conversation.timeline.state.isLoaded
                && conversation.composer.state.isReady
        }
        return conversation
    }

    private func start() async -> Conversation {
        coordinator.start(opening: nil)
        await show(["a", "b"])
        return await open(a)
    }

    private func type(_ text: String, in conversation: Conversation) {
        for character in text { conversation.composer.handle(.insert(String(character), origin: .typed)) }
    }

    private func press(_ chord: String, in conversation: Conversation) {
        conversation.composer.handle(.key(KeyChord(parsing: chord)!))
    }

    private func edited(in conversation: Conversation) -> [String] {
        conversation.timeline.items.compactMap(\.message).filter(\.isBeingEdited).map(\.id.rawValue)
    }

    // MARK: Encryption

    @Test("A room whose encryption state cannot be read accepts no messages until it can")
    func unknownEncryptionBlocksMessages() async {
        service.encryption = { _ in throw ChatError.storage(reason: "unreadable") }
        let conversation = await start()
        await eventually { !conversation.acceptsMessages }
        #expect(!conversation.isEncrypted, "that is not known either")
        #expect(conversation.encryptionNotice(.untranslated)?.contains("once the server confirms") == true)
        #expect(coordinator.toasts == [.failed(ChatError.storage(reason: "unreadable"))])
        service.encryption = { _ in false }
        await open(b)
        let again = await open(a)
        await eventually { again.acceptsMessages }
    }

    @Test("A room whose encryption is unknown is asked about again once the server is reached")
    func unknownEncryptionIsCheckedAgainOnline() async {
        service.encryption = { _ in throw ChatError.unreachable }
        let conversation = await start()
        await eventually { !conversation.acceptsMessages }
        service.encryption = { _ in false }
        coordinator.environment.session.isOnline = true
        await eventually { conversation.acceptsMessages }
        #expect(conversation.encryptionNotice(.untranslated) == nil)
    }

    @Test func encryptedRoomAcceptsNoMessages() async {
        service.encryption = { [a] in $0 == a }
        let conversation = await start()
        await eventually { conversation.isEncrypted }
        #expect(!conversation.acceptsMessages)
    }

    // MARK: Links

    @Test("A link to a message opens its room and scrolls to the message")
    func messageLinkOpensItsRoomAndMessage() async throws {
        let conversation = await start()
        #expect(conversation.roomID == a)
        let effects = Recorder<TimelineViewModel.Effect>()
        coordinator.open("https://matrix.to/#/b/%24m1?via=example.org")
        #expect(coordinator.conversation?.roomID == a, "no room of Matrix")
        service.tell(["a", "!b:example.org"].map { .of($0, at: localTime(2026, 3, 10)) })
        let room = RoomID("!b:example.org")
        service.openings[room] = .opened(
            TimelinePage(messages: [own("$1", in: room.rawValue), own("$2", in: room.rawValue)], hasOlder: false),
            members: [Fixtures.own, Fixtures.other], fullyReadMarker: nil)
        await eventually { [coordinator] in coordinator.rooms.state.rows.contains { $0.id == room } }
        coordinator.open("https://matrix.to/#/%21b%3Aexample.org/%241?via=example.org")
        await eventually { [coordinator] in coordinator.conversation?.roomID == room }
        coordinator.conversation?.timeline.subscribe { effects.record($0) }
        await eventually { effects.values.contains(.reveal(.message(MessageID("$1")))) }
        // A link to the open room works as well.
        coordinator.open("matrix:roomid/b:example.org/e/2")
        await eventually { effects.values.contains(.reveal(.message(MessageID("$2")))) }
    }

    @Test("Requests for a window of a hidden account are dropped")
    func requestsOfHiddenAccountsAreDropped() async {
        let requests = WindowRequests()
        requests.show(.message("before the first window"))
        requests.send(.windowAppeared)
        #expect(requests.state.pending.map(\.request) == [.show(.message("before the first window"))])
        requests.send(.handled(through: requests.state.pending[0].id))
        requests.show(.message("while hidden"))
        requests.send(.windowAppeared)
        #expect(requests.state.pending.isEmpty)
        requests.show(.message("one"))
        let first = requests.state.pending[0].id
        requests.show(.message("two"))
        requests.send(.handled(through: first))
        #expect(requests.state.pending.map(\.request) == [.show(.message("two"))])
    }

    // MARK: Rooms

    @Test("A window waits for the rooms, the messages and the draft")
    func waitingLoadsRoomsMessagesAndDraft() async {
        coordinator.start(opening: a)
        let settling = Task { await coordinator.waitUntilIdle(within: .seconds(1)) }
        service.tell(["a", "b"].map { .of($0, at: localTime(2026, 3, 10)) })
        await settling.value
        #expect(coordinator.conversation?.roomID == a)
        #expect(coordinator.conversation?.timeline.state.isLoaded == true)
        #expect(coordinator.conversation?.composer.state.isReady == true)
    }

    @Test("A failure before the first window is shown in it")
    func failuresBeforeTheFirstWindowAreShownLater() async {
        let quiet = ConversationCoordinator(service: service, time: Timekeeper(clock))
        service.before = { call in if case .draft = call { throw ChatError.notFound } }
        quiet.start(opening: a)
        let settling = Task { await quiet.waitUntilIdle(within: .seconds(1)) }
        service.tell([.of("a", at: localTime(2026, 3, 10))])
        await settling.value
        quiet.requests.send(.windowAppeared)
        let pending = quiet.requests.state.pending
        #expect(pending.map(\.request) == [.show(.failed(.notFound))])
        quiet.requests.send(.handled(through: pending[0].id))
        #expect(quiet.requests.state.pending.isEmpty)
    }

    @Test("Waiting for an unresponsive store ends after the limit")
    func waitingEndsAfterItsLimit() async {
        coordinator.start(opening: a)
        let settling = Task { await coordinator.waitUntilIdle(within: .seconds(1)) }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        await settling.value
        #expect(!coordinator.rooms.state.isLoaded)
    }

    @Test func opensTheLastOpenRoom() async {
        coordinator.start(opening: b)
        await show(["a", "b"])
        #expect(coordinator.conversation?.roomID == b)
    }

    @Test func reselectingTheOpenRoomKeepsItsConversation() async {
        let conversation = await start()
        coordinator.rooms.send(.select(a))
        await show(["b", "a"])
        #expect(coordinator.conversation === conversation)
    }

    @Test func composersAreRetainedWithTheirUndoHistory() async {
        let first = await start()
        type("unsent", in: first)
        let second = await open(b)
        #expect(second.composer !== first.composer && second.composer.document.text.isEmpty)
        await eventually { [service] in service.drafts[RoomID("a")]?.preview == "unsent" }
        let again = await open(a)
        #expect(again !== first && again.composer === first.composer)
        #expect(again.composer.document.text == "unsent")
        again.composer.handle(.undo)
        #expect(again.composer.document.text.isEmpty)
    }

    @Test func composerOfALeftRoomIsReleased() async {
        weak var left: ComposerViewModel?
        do {
            let first = await start()
            type("unsent", in: first)
            left = first.composer
        }
        await open(b)
        await coordinator.flushDrafts()
        await show(["b"])
        await settle()
        #expect(left == nil)
        // A reopened room gets a new composer.
        service.drafts[a] = nil
        await show(["b", "a"])
        let again = await open(a)
        #expect(again.composer.document.text.isEmpty)
        #expect(coordinator.toasts.isEmpty)
    }

    @Test func leavingTheOpenRoomClosesIt() async {
        let conversation = await start()
        service.before = { if $0.isSaveDraft { throw ChatError.notFound } }
        type("unsent", in: conversation)
        coordinator.rooms.send(.leave(a))
        service.tell(.closed, in: a)
        await show(["b"])
        await settle()
        #expect(coordinator.conversation == nil && coordinator.rooms.state.selection == nil)
        #expect(coordinator.toasts.isEmpty)
    }

    @Test func createdRoomIsOpened() async {
        _ = await start()
        coordinator.rooms.send(.create(name: "New"))
        await eventually { [service] in service.calls.contains(.create("New")) }
        await show(["New", "a", "b"])
        await eventually { [coordinator] in coordinator.conversation?.roomID != a }
        #expect(coordinator.conversation?.roomID == RoomID("New"))
        #expect(coordinator.rooms.state.selection == RoomID("New"))
    }

    @Test func detailsExistOnlyForListedRooms() async {
        _ = await start()
        #expect(coordinator.dialogs.details(of: b)?.state.name == "Room b")
        #expect(coordinator.dialogs.details(of: b)?.roomID == b)
        #expect(coordinator.dialogs.details(of: RoomID("none")) == nil)
    }

    @Test func flushingSavesTheDraftsOfAllRooms() async {
        type("one", in: await start())
        type("two", in: await open(b))
        await coordinator.flushDrafts()
        #expect(service.drafts[a]?.preview == "one" && service.drafts[b]?.preview == "two")
    }

    // MARK: Editing

    @Test func editingIsShownInTheTimelineAndSurvivesRoomChanges() async {
        let first = await start()
        press("Up", in: first)
        #expect(first.composer.document.text == "Text of m2")
        #expect(edited(in: first) == ["m2"])
        first.timeline.send(.message(MessageID("m1"), .edit))
        #expect(edited(in: first) == ["m1"])
        let second = await open(b)
        #expect(edited(in: second).isEmpty)
        let again = await open(a)
        #expect(edited(in: again) == ["m1"])
        press("Escape", in: again)
        #expect(edited(in: again).isEmpty)
    }

    @Test func restoredEditIsShownInTheTimeline() async {
        service.drafts[a] = ComposerHarness.draft("better", editing: "m1", stash: "unsent")
        let conversation = await start()
        #expect(edited(in: conversation) == ["m1"])
        press("Return", in: conversation)
        await eventually { [service] in service.calls.contains(.edit(MessageID("m1"), "better")) }
        #expect(edited(in: conversation).isEmpty && conversation.composer.document.text == "unsent")
    }

    @Test func deletingTheEditedMessageEndsTheEdit() async {
        let conversation = await start()
        type("unsent", in: conversation)
        conversation.timeline.send(.message(MessageID("m1"), .edit))
        service.tell(.changed([own("m2", in: "a", isDeleted: true)]), in: a)
        service.tell(.changed([own("m1", in: "a", isDeleted: true)]), in: a)
        await eventually { conversation.composer.state.composer.editing == nil }
        #expect(conversation.composer.document.text == "unsent")
        #expect(edited(in: conversation).isEmpty)
    }

    @Test func restoredEditOfADeletedMessageEnds() async {
        service.drafts[a] = ComposerHarness.draft("better", editing: "m1", stash: "unsent")
        service.openings[a] = .opened(
            TimelinePage(messages: [own("m1", in: "a", isDeleted: true)], hasOlder: false), members: [Fixtures.own],
            fullyReadMarker: nil)
        let conversation = await start()
        await eventually { conversation.composer.state.composer.length == 6 }
        #expect(conversation.composer.state.composer.editing == nil)
    }

    // MARK: Sending, typing, notices

    @Test func sendingScrollsOnlyTheOpenRoomToTheEnd() async {
        let first = await start()
        let effects = Recorder<TimelineViewModel.Effect>()
        first.timeline.subscribe { effects.record($0) }
        let shown = { effects.values.count { $0 == .revealNewest } }
        let before = shown()
        type("one", in: first)
        press("Return", in: first)
        await eventually { shown() == before + 1 }
        let gate = Gate()
        service.before = { if $0.isSend { await gate.pass() } }
        type("two", in: first)
        press("Return", in: first)
        await open(b)
        await eventually { gate.waiting == 1 }
        gate.open()
        await coordinator.flushDrafts()
        #expect(shown() == before + 1 && service.calls.filter(\.isSend).count == 2)
    }

    @Test func typingUsersAreShownOnlyInTheirRoom() async {
        let first = await start()
        service.tell(.typing([Fixtures.other.id]), in: a)
        await eventually { first.composer.state.composer.typing == "Alex is typing…" }
        let second = await open(b)
        #expect(second.composer.state.composer.typing == nil)
        #expect(first.composer.state.composer.typing == nil)
        service.tell(.typing([Fixtures.other.id]), in: a)
        await settle()
        #expect(first.composer.state.composer.typing == nil)
    }

    /// Failures are reported from every room; rejections only from the visible one.
    @Test func failuresAndRejectionsAreForwarded() async {
        let first = await start()
        service.before = { call in
            switch call {
            case .delete: throw ChatError.notPermitted
            case .create: throw ChatError.invalidName
            case .send: throw ChatError.diskFull
            default: break
            }
        }
        first.timeline.send(.message(MessageID("m1"), .delete))
        await eventually { [coordinator] in coordinator.toasts == [.failed(.notPermitted)] }
        coordinator.rooms.send(.create(name: ""))
        await eventually { [coordinator] in coordinator.toasts.last == .failed(.invalidName) }
        press("Return", in: first)
        #expect(coordinator.toasts.last == .rejected(.empty))
        type("one", in: first)
        press("Return", in: first)
        await open(b)
        await eventually { [coordinator] in coordinator.toasts.last == .failed(.diskFull) }
        first.composer.handle(.clear)
        first.composer.handle(.send)
        #expect(coordinator.toasts.count == 4)
    }

    @Test func sendKeyAppliesToAllRooms() async {
        let first = await start()
        let preferences = coordinator.environment.preferences
        preferences.writing.sendKey = .ctrlReturn
        let second = await open(b)
        #expect(second.composer.preferences.sendKey == .ctrlReturn)
        await eventually { first.composer.preferences.sendKey == .ctrlReturn }
        preferences.writing.sendKey = .return
        await eventually {
            first.composer.preferences.sendKey == .return && second.composer.preferences.sendKey == .return
        }
    }

    // MARK: Midnight

    @Test func midnightUpdatesTheDays() async {
        wallClock.record(localTime(2026, 3, 10, 23, 50))
        let conversation = await start()
        func day() -> RelativeDay? {
            conversation.timeline.items.lazy.compactMap {
                if case .day(_, _, let day) = $0 { day } else { nil }
            }.first
        }
        await clock.waitForSleepers()
        #expect(coordinator.rooms.state.rows[0].day == .today && day() == .today)
        wallClock.record(localTime(2026, 3, 11, 0, 0, 1))
        clock.advance(by: .seconds(601))
        await eventually { [coordinator] in coordinator.rooms.state.rows[0].day == .yesterday }
        #expect(day() == .yesterday)
    }

    /// The system was suspended, or its clock was set.
    @Test func clockJumpsUpdateTheDays() async {
        let conversation = await start()
        for (date, day) in [((2026, 3, 14), RelativeDay.thisWeek), ((2026, 3, 10), .today)] {
            await clock.waitForSleepers()
            wallClock.record(localTime(date.0, date.1, date.2))
            clock.advance(by: .seconds(15 * 60))
            await eventually { [coordinator] in coordinator.rooms.state.rows[0].day == day }
        }
        #expect(conversation.timeline.state.isLoaded)
    }
}
