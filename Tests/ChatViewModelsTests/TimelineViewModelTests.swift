import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Foundation
import Testing

@MainActor @Suite(.timeLimit(.minutes(10))) struct TimelineViewModelTests {
    private let harness = TimelineHarness()
    private var timeline: TimelineViewModel { harness.timeline }
    private var service: FakeChatService { harness.service }
    nonisolated private static let own = Fixtures.own

    private func page(_ positions: ClosedRange<Int64>, hasOlder: Bool) -> TimelinePage {
        TimelinePage(messages: positions.map { .of($0) }, hasOlder: hasOlder)
    }

    // MARK: Updates

    @Test func nothingIsShownBeforeTheRoomOpens() {
        #expect(!timeline.state.isLoaded && !timeline.state.isEmpty)
        timeline.send(.pages(.load(.older)))
        timeline.send(.reading(.scrolled(to: nil)))
        timeline.send(.composer(.editLast))
        #expect(service.calls.isEmpty && harness.reported.isEmpty)
    }

    nonisolated static let updates: [(String, [TimelineUpdate], [String])] = [
        ("new", [.changed([.of(40)])], ["10", "20", "30", "40"]),
        ("several, out of order", [.changed([.of(60), .of(40), .of(50)])], ["10", "20", "30", "40", "50", "60"]),
        ("late, in between", [.changed([.of(15)]), .changed([.of(25)])], ["10", "15", "20", "25", "30"]),
        ("before all", [.changed([.of(5)])], ["5", "10", "20", "30"]),
        ("twice", [.changed([.of(40), .of(40)]), .changed([.of(40), .of(20)])], ["10", "20", "30", "40"]),
        ("removed", [.removed([MessageID("m20")])], ["10", "30"]),
        ("unknown removed", [.removed([MessageID("m99")])], ["10", "20", "30"]),
        (
            "all removed, then new", [.removed(["m10", "m20", "m30"].map { MessageID($0) }), .changed([.of(40)])],
            ["40"]
        ),
    ]

    @Test(arguments: updates) func updatesAreMergedInOrder(
        _ what: String, updates: [TimelineUpdate], expected: [String]
    ) async {
        await harness.open([.of(10), .of(20), .of(30)])
        for update in updates { await harness.publish(update) }
        #expect(harness.positions == expected, "\(what)")
    }

    @Test func changeReplacesTheMessage() async {
        await harness.open([.of(1), .of(2), .of(3)])
        await harness.publish(.changed([.of(2, text: "", isDeleted: true)]))
        #expect(harness.messages.map(\.isDeleted) == [false, true, false])
    }

    /// The user's own message moves to its final position when the server returns it.
    @Test func movedMessageIsShownOnce() async {
        await harness.open([.of(1), .of(2)])
        func own(at position: Int64, _ delivery: Message.Delivery) -> Message {
            Message(
                id: MessageID("m9"), roomID: RoomID("room"), sender: Self.own.id, text: "mine", sentAt: harness.now,
                position: position, delivery: delivery)
        }
        await harness.publish(.changed([own(at: 3, .sending)]))
        await harness.publish(.changed([.of(4), own(at: 5, .sent)]))
        #expect(harness.positions == ["1", "2", "4", "9"])
        #expect(harness.messages.last?.delivery == .sent)
    }

    @Test func reopeningReplacesAllMessages() async {
        await harness.open([.of(1), .of(2)], hasOlder: true)
        #expect(harness.reported.isEmpty)
        await harness.open([.of(7)], hasOlder: false)
        #expect(harness.reported == [.roomChanged], "it may have, in what was left out")
        #expect(harness.positions == ["7"] && !harness.state.hasOlder)
    }

    @Test func streamEndingBeforeOpeningIsAFailure() async {
        service.timelines[timeline.roomID]?.finish()
        await eventually { [harness] in !harness.reported.isEmpty }
        guard case .failed(.storage) = harness.reported[0] else {
            Issue.record("told \(harness.reported)")
            return
        }
    }

    @Test func closedRoomIsReadOnly() async {
        await harness.open([.of(1, by: Self.own), .of(2)], hasOlder: true)
        await harness.publish(.closed)
        service.timelines[timeline.roomID]?.finish()
        #expect(harness.state.isClosed && harness.positions == ["1", "2"])
        let id = MessageID("m1")
        for action in [
            .pages(.load(.older)), .reading(.scrolled(to: nil)), .message(id, .edit), .composer(.editLast),
            .message(id, .delete), .selection(.toggle(id)),
        ] as [TimelineViewModel.Action] {
            timeline.send(action)
        }
        await waitUntilIdle()
        #expect(service.calls.isEmpty && harness.reported.isEmpty)
    }

    @Test func reportsTypingUsersByName() async {
        await harness.open([])
        service.publish(.typing([Fixtures.other.id, MemberID("x")]))
        await eventually { [harness] in harness.outputs.values.last == .typing(["Alex", "x"]) }
        service.publish(.closed)
        await eventually { [harness] in harness.outputs.values.last == .typing([]) }
    }

    /// Nothing else retains a timeline: it is released with its view.
    @Test func timelineIsReleasedWithItsOwner() async {
        var other: TimelineViewModel? = TimelineViewModel(roomID: RoomID("other"), service: service)
        other?.start()
        weak let weakly = other
        let ended = Recorder<Bool>()
        service.timelines[RoomID("other")]?.onTermination = { _ in Task { @MainActor in ended.record(true) } }
        service.publish(.changed([.of(1)]), in: RoomID("other"))
        await waitUntilIdle()
        other = nil
        await eventually { ended.values == [true] }
        #expect(weakly == nil)
    }

    // MARK: Older messages

    @Test func loadsOneOlderPageAtATime() async {
        let gate = Gate()
        service.before = { if case .page = $0 { await gate.pass() } }
        service.pages = { [self] _, _ in page(4...6, hasOlder: true) }
        await harness.open([.of(7), .of(8)], hasOlder: true)
        timeline.send(.pages(.load(.older)))
        timeline.send(.pages(.load(.older)))
        await eventually { gate.waiting == 1 }
        timeline.send(.pages(.load(.older)))
        #expect(harness.state.loading != nil)
        gate.open()
        await eventually { [harness] in harness.state.loading == nil }
        #expect(service.calls == [.page(before: 7)])
        #expect(harness.positions == ["4", "5", "6", "7", "8"])
        service.pages = { [self] _, _ in page(1...3, hasOlder: false) }
        timeline.send(.pages(.load(.older)))
        await eventually { [harness] in !harness.state.hasOlder }
        timeline.send(.pages(.load(.older)))
        await waitUntilIdle()
        #expect(service.calls == [.page(before: 7), .page(before: 4)])
        let all: [String] = (1...8).map { "\($0)" }
        #expect(harness.positions == all)
        #expect(harness.reported.isEmpty)
    }

    @Test func failedPageCanBeRequestedAgain() async {
        service.before = { _ in throw ChatError.storage(reason: "disk") }
        await harness.open([.of(7)], hasOlder: true)
        timeline.send(.pages(.load(.older)))
        await eventually { [harness] in !harness.reported.isEmpty }
        #expect(harness.reported == [.failed(.storage(reason: "disk"))])
        #expect(harness.state.loading == nil && harness.state.hasOlder)
        service.before = { _ in }
        service.pages = { [self] _, _ in page(5...6, hasOlder: false) }
        timeline.send(.pages(.load(.older)))
        await eventually { [harness] in harness.positions == ["5", "6", "7"] }
    }

    /// The view retries every two seconds.
    @Test func repeatedPageFailureIsReportedOnce() async {
        service.before = { _ in throw ChatError.unreachable }
        service.pages = { [self] _, _ in page(5...6, hasOlder: true) }
        await harness.open([.of(7)], hasOlder: true)
        for _ in 1...3 {
            timeline.send(.pages(.load(.older)))
            await eventually { [harness] in harness.state.loading == nil }
        }
        #expect(harness.reported == [.failed(.unreachable)])
        // Failures of user actions are reported each time.
        for count in 2...3 {
            timeline.send(.pages(.jump(.oldest)))
            await eventually { [harness] in harness.reported.count == count }
        }
        service.before = { _ in }
        timeline.send(.pages(.load(.older)))
        await eventually { [harness] in harness.positions == ["5", "6", "7"] }
        service.before = { _ in throw ChatError.unreachable }
        timeline.send(.pages(.load(.older)))
        await eventually { [harness] in harness.reported.count == 4 }
    }

    /// A change that arrives while a page loads is newer than the page.
    @Test func changesDuringPageLoadAreApplied() async {
        let gate = Gate()
        service.before = { if case .page = $0 { await gate.pass() } }
        service.pages = { [self] _, _ in page(1...5, hasOlder: false) }
        await harness.open([.of(6)], hasOlder: true)
        timeline.send(.pages(.load(.older)))
        await eventually { gate.waiting == 1 }
        await harness.publish(.changed([.of(2, text: "changed")]))
        await harness.publish(.removed([MessageID("m3"), MessageID("m6")]))
        await harness.publish(.changed([.of(7)]))
        #expect(harness.positions == ["7"])
        gate.open()
        await eventually { [harness] in harness.state.loading == nil }
        #expect(harness.positions == ["1", "2", "4", "5", "7"])
        #expect(harness.messages[1].text == "changed")
    }

    /// Changes older than everything loaded are ignored; their page will include them.
    @Test func changesToUnloadedMessagesAreIgnored() async {
        await harness.open([.of(6), .of(7)], hasOlder: true)
        await harness.publish(.changed([.of(3, text: "changed")]))
        await harness.publish(.removed([MessageID("m6"), MessageID("m7")]))
        #expect(harness.positions == [])
        await harness.publish(.changed([.of(8)]))
        #expect(harness.positions == ["8"])
        service.pages = { [self] _, _ in page(4...5, hasOlder: true) }
        timeline.send(.pages(.load(.older)))
        await eventually { [harness] in harness.positions == ["4", "5", "8"] }
        #expect(service.calls == [.page(before: 6)])
    }

    @Test func pageOfAReopenedRoomIsIgnored() async {
        let gate = Gate()
        service.before = { if case .page = $0 { await gate.pass() } }
        service.pages = { [self] _, _ in page(1...5, hasOlder: false) }
        await harness.open([.of(6)], hasOlder: true)
        timeline.send(.pages(.load(.older)))
        await eventually { gate.waiting == 1 }
        await harness.open([.of(20)], hasOlder: true)
        gate.open()
        await waitUntilIdle()
        #expect(harness.positions == ["20"] && harness.state.hasOlder && harness.state.loading == nil)
    }

    // MARK: Read markers

    @Test func marksAsReadForwardOnlyAndOnce() async {
        await harness.open([.of(1), .of(2), .of(3)], readUpTo: 1)
        timeline.send(.reading(.scrolled(to: nil)))
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await eventually { [harness] in harness.marked.count == 1 }
        await harness.publish(.removed([MessageID("m3")]))
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await harness.publish(.changed([.of(4)]))
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await eventually { [harness] in harness.marked.count == 2 }
        harness.dwell()
        await waitUntilIdle()
        #expect(service.calls == [.markRead(MessageID("m3")), .markRead(MessageID("m4"))])
    }

    /// A message counts as read only after it was visible for some time.
    @Test func glanceMarksNothingAsRead() async {
        await harness.open([.of(1), .of(2)], readUpTo: 1)
        timeline.send(.reading(.scrolled(to: nil)))
        harness.clock.advance(by: .milliseconds(999))
        await waitUntilIdle()
        timeline.send(.reading(.attended(false)))
        harness.dwell()
        await waitUntilIdle()
        #expect(harness.marked.isEmpty)
    }

    /// An inactive window sends no read receipts.
    @Test func nothingIsMarkedReadWhileUnattended() async {
        timeline.send(.reading(.attended(false)))
        await harness.open([.of(1), .of(2), .of(3)], readUpTo: 1)
        timeline.send(.reading(.scrolled(to: nil)))
        await harness.publish(.changed([.of(4)]))
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await waitUntilIdle()
        #expect(service.calls.isEmpty)
        timeline.send(.reading(.attended(true)))
        harness.dwell()
        await eventually { [service] in service.calls == [.markRead(MessageID("m4"))] }
        timeline.send(.reading(.attended(false)))
        timeline.send(.reading(.scrolled(to: ScrollPosition(message: MessageID("m2"), offset: 0))))
        await harness.publish(.changed([.of(5)]))
        timeline.send(.reading(.attended(true)))
        harness.dwell()
        await waitUntilIdle()
        #expect(!service.calls.contains(.markRead(MessageID("m5"))), "it is below what is seen")
    }

    @Test func readMessagesAreNotMarkedAgain() async {
        await harness.open([.of(1), .of(2)], readUpTo: 2)
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await waitUntilIdle()
        #expect(service.calls.isEmpty)
    }

    @Test("A room is reported as seen once after opening, whether or not anything is unread")
    func roomIsSeenOnce() async {
        await harness.open([.of(1), .of(2)], readUpTo: 2)
        timeline.send(.reading(.attended(false)))
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await waitUntilIdle()
        #expect(harness.reported.isEmpty, "the window is not active")
        timeline.send(.reading(.attended(true)))
        harness.dwell()
        await eventually { [harness] in harness.reported == [.seen] }
        await harness.publish(.changed([.of(3)]))
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await eventually { [harness] in harness.marked == [MessageID("m3")] }
        #expect(harness.reported == [.seen])
    }

    /// A local echo cannot be marked as read: the server does not know it yet.
    @Test func pendingMessagesAreNotMarkedRead() async {
        await harness.open([.of(1), .of(2, by: Self.own, delivery: .sending)])
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await eventually { [service] in service.calls == [.markRead(MessageID("m1"))] }
    }

    @Test("Messages that arrive unattended are below an unread line, which stays in view")
    func unreadLinePrecedesWhatArrivesUnattended() async {
        await harness.open([.of(1), .of(2)], readUpTo: 2)
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await eventually { [harness] in harness.outputs.values.contains(.seen) }
        await harness.publish(.changed([.of(3)]))
        #expect(harness.sketch == "d10 (m1 m2 m3)", "attended")
        harness.dwell()
        await eventually { [harness] in harness.marked == [MessageID("m3")] }
        timeline.send(.reading(.attended(false)))
        harness.forgetEffects()
        await harness.publish(.changed([.of(4)]))
        #expect(harness.sketch == "d10 (m1 m2 m3) -- (m4)")
        #expect(harness.mirrored == Array(timeline.rows))
        #expect(harness.effects.contains(.keepUnreadLineInView))
        await harness.publish(.changed([.of(5, by: Self.own)]))
        await harness.publish(.changed([.of(6)]))
        #expect(harness.sketch == "d10 (m1 m2 m3) -- (m4) (m5) (m6)")
        harness.forgetEffects()
        timeline.send(.reading(.scrolled(to: ScrollPosition(message: MessageID("m5"), offset: 0))))
        await harness.publish(.changed([.of(7)]))
        #expect(!harness.effects.contains(.keepUnreadLineInView), "the line has reached the top, or the user has moved")
        timeline.send(.reading(.attended(true)))
        harness.dwell()
        await eventually { [harness] in harness.marked == [MessageID("m3"), MessageID("m5")] }
        #expect(harness.sketch == "d10 (m1 m2 m3) -- (m4) (m5) (m6 m7)", "it stays while the user reads")
    }

    // MARK: Editing and deleting

    nonisolated static let rights: [(String, Message, rejection: TimelineViewModel.EditRejection?, canDelete: Bool)] = [
        ("own", .of(1, by: own), nil, true), ("another's", .of(1), .noMessage, false),
        ("deleted", .of(1, by: own, isDeleted: true), .noMessage, false),
        ("on its way", .of(1, by: own, delivery: .sending), .pending, true),
        ("failed", .of(1, by: own, delivery: .failed), .failed, true),
    ]

    @Test(arguments: rights) func onlyOwnMessagesCanBeChanged(
        _ what: String, message: Message, rejection: TimelineViewModel.EditRejection?, canDelete: Bool
    ) async {
        await harness.open([message])
        timeline.send(.message(message.id, .edit))
        timeline.send(.composer(.editLast))
        let edit = TimelineViewModel.Output.edit(message.id, EditableMessage(WrittenText(message.text)))
        #expect(harness.reported == (rejection.map { [TimelineViewModel.Output.notEdited($0)] } ?? [edit, edit]))
        timeline.send(.message(message.id, .delete))
        await waitUntilIdle()
        #expect(service.calls == (canDelete ? [.delete(message.id)] : []))
    }

    @Test func failedMessageIsRetried() async {
        var failed = Message.of(1, by: Self.own, delivery: .failed)
        failed.transactionID = TransactionID("t1")
        var waiting = Message.of(2, by: Self.own, delivery: .sending)
        waiting.transactionID = TransactionID("t2")
        await harness.open([failed, waiting, .of(3, by: Self.own)])
        #expect(harness.messages.map(\.canRetry) == [true, false, false])
        for id in ["m1", "m2", "m3", "unknown"] { timeline.send(.message(MessageID(id), .retry)) }
        await eventually { [service] in service.calls == [.retry(TransactionID("t1"))] }
        await waitUntilIdle()
        #expect(service.calls == [.retry(TransactionID("t1"))])
    }

    @Test func rejectedChangeIsRetriedOrDiscarded() async {
        var refused = Message.of(1)
        refused.pendingChange = PendingChange(transaction: TransactionID("r"), kind: .reaction, isRejected: true)
        var waiting = Message.of(2, by: Self.own)
        waiting.pendingChange = PendingChange(transaction: TransactionID("e"), kind: .edit)
        var uploading = Message.of(3, by: Self.own, delivery: .sending)
        uploading.upload = 0.5
        await harness.open([refused, waiting, uploading])
        #expect(harness.messages.map(\.rejectedItem) == [.change(.reaction), nil, nil])
        #expect(harness.messages.map(\.isOnItsWay) == [false, true, true])
        #expect(harness.messages.map(\.upload) == [nil, nil, 0.5])
        for id in ["m1", "m2", "m3", "unknown"] {
            timeline.send(.message(MessageID(id), .retry))
            timeline.send(.message(MessageID(id), .requestDiscard))
        }
        let expected: [FakeChatService.Call] = [
            .retry(TransactionID("r")), .discard(TransactionID("r")), .delete(uploading.id),
        ]
        await eventually { [service] in service.calls.count == expected.count }
        await waitUntilIdle()
        #expect(expected.allSatisfy(service.calls.contains) && service.calls.count == expected.count)
    }

    @Test func editLastEditsTheNewestOwnMessage() async {
        await harness.open([
            .of(1, by: Self.own), .of(2, by: Self.own), .of(3, by: Self.own, isDeleted: true), .of(4),
        ])
        timeline.send(.composer(.editLast))
        timeline.send(.message(MessageID("unknown"), .edit))
        timeline.send(.message(MessageID("m4"), .delete))
        await waitUntilIdle()
        #expect(harness.reported == [.edit(MessageID("m2"), EditableMessage(WrittenText("Text 2")))])
        #expect(service.calls.isEmpty)
    }

    /// SLK-46: while the newest own message cannot be edited, the one before it is not edited in its place.
    @Test(arguments: [Message.Delivery.sending, .failed])
    func unsentMessageIsNotPassedOver(_ delivery: Message.Delivery) async {
        await harness.open([.of(1, by: Self.own), .of(2, by: Self.own, delivery: delivery), .of(3)])
        timeline.send(.composer(.editLast))
        #expect(harness.reported == [.notEdited(delivery == .failed ? .failed : .pending)])
        #expect(timeline.lastEditable == nil)
        #expect(harness.effects.last == .bringIntoView(.message(MessageID("m2"))), "the user sees which one it is")
        await harness.publish(.changed([.of(2, by: Self.own)]))
        timeline.send(.composer(.editLast))
        #expect(harness.reported.last == .edit(MessageID("m2"), EditableMessage(WrittenText("Text 2"))))
    }

    /// A room whose composer is hidden has nobody who could have pressed Up.
    @Test func hiddenComposerReportsNothing() async {
        await harness.open([.of(1)])
        timeline.send(.context(.acceptsMessages(false)))
        timeline.send(.composer(.editLast))
        #expect(harness.reported.isEmpty)
    }

    /// The local echo got its event ID while the deletion awaited confirmation.
    @Test func messageWithAnOutdatedIDIsDeleted() async {
        await harness.open([.of(1, by: Self.own)])
        timeline.send(.message(MessageID("~t1"), .delete))
        await eventually { [service] in service.calls.contains(.delete(MessageID("~t1"))) }
    }

    @Test func failedDeletionIsReported() async {
        service.before = { _ in throw ChatError.notPermitted }
        await harness.open([.of(1, by: Self.own)])
        timeline.send(.message(MessageID("m1"), .delete))
        await eventually { [harness] in harness.reported == [.failed(.notPermitted)] }
    }

    @Test func showsWhichMessageIsBeingEdited() async {
        await harness.open([.of(1, by: Self.own), .of(2, by: Self.own)])
        timeline.send(.composer(.editing(MessageID("m1"))))
        #expect(harness.messages.map(\.isBeingEdited) == [true, false])
        timeline.send(.composer(.editing(nil)))
        #expect(harness.messages.map(\.isBeingEdited) == [false, false])
    }

    nonisolated static let endings: [TimelineUpdate] = [
        .changed([.of(2, by: own, text: "", isDeleted: true)]), .removed([MessageID("m2")]),
        .opened(
            TimelinePage(messages: [.of(2, by: own, isDeleted: true)], hasOlder: false), members: [own],
            fullyReadMarker: nil),
    ]

    @Test(arguments: endings, [true, false])
    func reportsDeletionOfTheEditedMessage(update: TimelineUpdate, isLoaded: Bool) async {
        await harness.open(isLoaded ? [.of(2, by: Self.own), .of(3)] : [.of(3)], hasOlder: true)
        timeline.send(.composer(.editing(MessageID("m2"))))
        await harness.publish(.changed([.of(3, isDeleted: true)]))
        #expect(harness.reported.isEmpty)
        await harness.publish(update)
        #expect(harness.reported.filter { $0 != .roomChanged } == [.editedMessageDeleted(MessageID("m2"))])
    }

    @Test func deletedMessageCannotBeEdited() async {
        await harness.open([.of(2, by: Self.own, isDeleted: true)])
        timeline.send(.composer(.editing(MessageID("m2"))))
        #expect(harness.reported == [.editedMessageDeleted(MessageID("m2"))])
    }
}
