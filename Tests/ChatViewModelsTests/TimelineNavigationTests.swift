import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Foundation
import Testing

/// Jumps, detached chunks and saved scroll positions.
@MainActor @Suite(.timeLimit(.minutes(10))) struct TimelineNavigationTests {
    private let harness = TimelineHarness(pageSize: 4, reach: 6)
    private var service: FakeChatService { harness.service }
    private var timeline: TimelineViewModel { harness.timeline }

    /// Opens a room of messages 1 to `count` with the newest four loaded.
    private func open(_ count: Int64, readUpTo: Int64? = nil) async {
        let all = (1...count).map { Message.of($0) }
        service.pages = { before, limit in
            let older = all.filter { $0.position < before }
            return TimelinePage(
                messages: older.suffix(limit), hasOlder: older.count > limit, hasNewer: older.count < all.count)
        }
        service.pagesAfter = { after, limit in
            let newer = all.filter { $0.position > after }
            return TimelinePage(
                messages: Array(newer.prefix(limit)), hasOlder: newer.count < all.count, hasNewer: newer.count > limit)
        }
        service.pagesAround = { target, limit in
            guard case .message(let id) = target, let index = all.firstIndex(where: { $0.id == id }) else { return nil }
            let range = max(0, index - limit / 2)..<min(all.count, index + limit / 2)
            return TimelinePage(
                messages: Array(all[range]), hasOlder: range.lowerBound > 0, hasNewer: range.upperBound < all.count)
        }
        await harness.open(Array(all.suffix(4)), hasOlder: count > 4, readUpTo: readUpTo)
    }

    private func reveals() -> [TimelineViewModel.Effect] {
        harness.effects.filter {
            switch $0 {
            case .reveal, .restore, .revealNewest, .revealOldest: true
            default: false
            }
        }
    }

    private func send(_ action: TimelineViewModel.Action) async {
        timeline.send(action)
        await eventually { [harness] in harness.state.loading == nil }
    }

    private func sees(_ positions: ClosedRange<Int>) -> Bool { harness.positions == positions.map(String.init) }

    @Test func jumpToALoadedMessageRequestsNothing() async {
        await open(10)
        harness.forgetEffects()
        timeline.send(.pages(.jump(.message(MessageID("m8")))))
        timeline.send(.pages(.jump(.newest)))
        #expect(harness.effects == [.reveal(.message(MessageID("m8"))), .revealNewest])
        #expect(service.calls.isEmpty)
    }

    @Test func jumpIntoHistoryIsDetachedUntilItMeetsTheNewest() async {
        await open(12)
        harness.forgetEffects()
        await send(.pages(.jump(.message(MessageID("m3")))))
        #expect(harness.effects == [.replaced, .reveal(.message(MessageID("m3")))])
        #expect(sees(1...4) && harness.state.isDetached && !harness.state.hasOlder)
        #expect(harness.timeline.rows.last?.id == .more(.newer))
        await send(.reading(.scrolled(to: ScrollPosition(message: MessageID("m4"), offset: 0))))
        await send(.pages(.load(.newer)))
        #expect(sees(1...8) && harness.state.isDetached)
        await send(.pages(.load(.newer)))
        #expect(sees(1...12) && !harness.state.isDetached)
        #expect(harness.mirrored == Array(timeline.rows))
    }

    /// SLK-56: the oldest destination is the room's first message, however much is loaded.
    @Test func jumpToOldestLoadsTheFirstMessage() async {
        await open(12)
        harness.forgetEffects()
        await send(.pages(.jump(.oldest)))
        #expect(harness.effects == [.replaced, .revealOldest])
        #expect(sees(1...4) && harness.state.isDetached && !harness.state.hasOlder)
        harness.forgetEffects()
        await send(.pages(.jump(.oldest)))
        #expect(harness.effects == [.revealOldest], "it is loaded")
    }

    @Test func messagesArrivingWhileDetachedAppearLater() async {
        await open(12)
        await send(.pages(.jump(.message(MessageID("m3")))))
        await harness.publish(.changed([.of(13)]))
        #expect(sees(1...4))
        #expect(harness.effects.contains { if case .arrived(let new) = $0 { new.count == 1 } else { false } })
        service.pages = { _, _ in
            TimelinePage(messages: (10...13).map { Message.of($0) }, hasOlder: true, hasNewer: false)
        }
        await send(.pages(.jump(.newest)))
        #expect(sees(10...13) && !harness.state.isDetached && reveals().last == .revealNewest)
    }

    @Test func endOfADetachedRangeIsNotMarkedRead() async {
        await open(12)
        await send(.pages(.jump(.message(MessageID("m3")))))
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await waitUntilIdle()
        #expect(harness.marked.isEmpty)
    }

    /// Messages that a jump passes over, such as the end of the room, are not marked as read.
    @Test(
        arguments: [.message(MessageID("m3")), .date(localTime(2026, 3, 1)), .oldest] as [TimelineDestination]
    )
    func jumpMarksNothingAsRead(_ destination: TimelineDestination) async {
        await open(12)
        timeline.send(.pages(.jump(destination)))
        timeline.send(.reading(.scrolled(to: nil)))
        timeline.send(.reading(.attended(false)))
        timeline.send(.reading(.attended(true)))
        harness.dwell()
        await waitUntilIdle()
        #expect(harness.marked.isEmpty)
    }

    @Test func jumpToAMissingMessageFailsAndChangesNothing() async {
        await open(12)
        await send(.pages(.jump(.message(MessageID("gone")))))
        #expect(harness.reported == [.failed(.notFound)] && sees(9...12))
    }

    /// A limited sync resets the timeline while the page of a jump is loading.
    @Test func jumpInFlightSurvivesAReset() async {
        await open(12)
        let gate = Gate()
        service.before = { if case .pageAround = $0 { await gate.pass() } }
        timeline.send(.pages(.jump(.message(MessageID("m3")))))
        await eventually { gate.waiting == 1 }
        await harness.open([.of(12)], hasOlder: true)
        gate.open()
        await eventually { [harness] in harness.positions.contains("3") && harness.state.loading == nil }
        #expect(reveals().last == .reveal(.message(MessageID("m3"))))
        #expect(harness.mirrored == Array(timeline.rows))
    }

    /// Opens a room, jumps to a message that is not loaded, and back while the range around it is being requested.
    /// - Parameter meanwhile: what is done before the jump back.
    private func jumpThereAndBack(_ gate: Gate, meanwhile: @MainActor () async -> Void = {}) async {
        service.before = { if case .pageAround = $0 { await gate.pass() } }
        timeline.send(.pages(.jump(.message(MessageID("m3")))))
        await eventually { gate.waiting == 1 }
        await meanwhile()
        timeline.send(.pages(.jump(.newest)))
    }

    @Test("A jump in flight is not performed after a jump to what is loaded")
    func laterJumpDropsTheJumpInFlight() async {
        await open(12)
        let gate = Gate()
        await jumpThereAndBack(gate)
        #expect(harness.state.loading == nil)
        gate.open()
        await waitUntilIdle()
        #expect(sees(9...12) && !harness.state.isDetached && reveals().last == .revealNewest)
        await send(.pages(.load(.older)))
        #expect(sees(5...12) && harness.mirrored == Array(timeline.rows))
    }

    @Test("A page requested during a jump loads once the jump is dropped")
    func pageRequestedDuringADroppedJumpLoads() async {
        await open(12)
        let gate = Gate()
        await jumpThereAndBack(gate) { timeline.send(.pages(.load(.older))) }
        await eventually { [harness] in harness.positions.count == 8 }
        await waitUntilIdle()
        #expect(sees(5...12) && harness.effects.contains(.finishedLoading(.older)))
        gate.open()
        await waitUntilIdle()
        #expect(sees(5...12) && harness.mirrored == Array(timeline.rows))
    }

    @Test("A page that a jump replaced can be requested again once the jump is dropped")
    func pageReplacedByADroppedJumpIsAnswered() async {
        await open(12)
        let pages = Gate()
        let ranges = Gate()
        service.before = {
            switch $0 {
            case .page: await pages.pass()
            case .pageAround: await ranges.pass()
            default: break
            }
        }
        timeline.send(.pages(.load(.older)))
        await eventually { pages.waiting == 1 }
        timeline.send(.pages(.jump(.message(MessageID("m3")))))
        await eventually { ranges.waiting == 1 }
        timeline.send(.pages(.jump(.newest)))
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: .seconds(2))
        await waitUntilIdle()
        #expect(harness.effects.contains(.finishedLoading(.older)))
        pages.open()
        ranges.open()
        await waitUntilIdle()
        #expect(sees(9...12))
        await send(.pages(.load(.older)))
        #expect(sees(5...12))
    }

    @Test("A message that arrives during a jump is read if the jump is dropped")
    func arrivalDuringADroppedJumpIsRead() async {
        await open(12)
        timeline.send(.reading(.scrolled(to: nil)))
        harness.dwell()
        await eventually { [harness] in harness.marked == [MessageID("m12")] }
        let gate = Gate()
        await jumpThereAndBack(gate) { await harness.publish(.changed([.of(13)])) }
        harness.dwell()
        await eventually { [harness] in harness.marked.last == MessageID("m13") }
        gate.open()
    }

    @Test func pageOfAnAbandonedRangeIsIgnored() async {
        await open(12)
        let gate = Gate()
        service.before = { if case .page = $0 { await gate.pass() } }
        timeline.send(.pages(.load(.older)))
        await eventually { gate.waiting == 1 }
        await send(.pages(.jump(.message(MessageID("m3")))))
        gate.open()
        await waitUntilIdle()
        #expect(sees(1...4) && harness.mirrored == Array(timeline.rows))
    }

    @Test func pageRequestedDuringAJumpLoadsNext() async {
        await open(12)
        await send(.pages(.jump(.message(MessageID("m7")))))
        timeline.send(.pages(.load(.older)))
        timeline.send(.pages(.load(.newer)))
        await eventually { [harness] in harness.state.loading == nil && !harness.state.isDetached }
        #expect(sees(1...12))
    }

    @Test func jumpToADateRevealsItsDay() async {
        let messages = (1...4).map { Message.of($0, at: localTime(2026, 3, Int($0), 12)) }
        await harness.open(messages)
        harness.forgetEffects()
        timeline.send(.pages(.jump(.date(localTime(2026, 3, 3, 0)))))
        #expect(harness.effects == [.reveal(.day(CalendarDay(year: 2026, month: 3, day: 3)))])
        timeline.send(.pages(.jump(.date(localTime(2026, 4, 1)))))
        #expect(harness.effects.last == .revealNewest)
    }

    // MARK: Initial position

    @Test func opensAtTheUnreadLine() async {
        await open(4, readUpTo: 2)
        #expect(reveals() == [.reveal(.unreadLine)])
        harness.forgetEffects()
        timeline.send(.pages(.jump(.firstUnread)))
        #expect(reveals() == [.reveal(.unreadLine)])
    }

    @Test func opensAtAFirstUnreadMessageFarBack() async {
        await open(30, readUpTo: 5)
        #expect(harness.sketch.contains("-- (m6") && harness.state.isDetached)
        #expect(reveals() == [.reveal(.unreadLine)])
    }

    @Test func jumpToFirstUnreadDoesNothingIfAllIsRead() async {
        await open(30, readUpTo: 30)
        harness.forgetEffects()
        timeline.send(.pages(.jump(.firstUnread)))
        #expect(harness.effects.isEmpty && harness.state.loading == nil && sees(27...30))
    }

    @Test func scrollPositionIsSavedWithinHalfASecond() async {
        await open(12)
        let place = ScrollPosition(message: MessageID("m10"), offset: 7)
        timeline.send(.reading(.scrolled(to: ScrollPosition(message: MessageID("m9"), offset: 3))))
        await harness.clock.waitForSleepers()
        timeline.send(.reading(.scrolled(to: place)))
        await waitUntilIdle()
        #expect(service.calls.isEmpty)
        harness.clock.advance(by: .milliseconds(300))
        await eventually { [service] in service.calls == [.savePlace(place)] }
        timeline.send(.reading(.scrolled(to: nil)))
        await timeline.flush()
        #expect(service.places.isEmpty && service.calls.contains(.savePlace(nil)))
    }

    @Test(arguments: [(11, false), (3, true)] as [(Int64, Bool)])
    func opensAtTheSavedScrollPosition(position: Int64, isDetached: Bool) async {
        let other = TimelineHarness(pageSize: 4, place: ScrollPosition(message: MessageID("m\(position)"), offset: -4))
        let all = (1...12).map { Message.of($0) }
        other.service.pagesAround = { _, _ in TimelinePage(messages: Array(all[1..<5]), hasOlder: true, hasNewer: true)
        }
        await other.open(Array(all.suffix(4)), hasOlder: true, readUpTo: 10)
        #expect(other.effects.last == .restore(ScrollPosition(message: MessageID("m\(position)"), offset: -4)))
        #expect(other.state.isDetached == isDetached)
    }

    @Test func missingScrollPositionOpensAtTheNewest() async {
        let other = TimelineHarness(pageSize: 4, place: ScrollPosition(message: MessageID("gone"), offset: 0))
        await other.open((9...12).map { .of($0) }, hasOlder: true)
        #expect(other.effects.last == .revealNewest && other.reported.isEmpty)
    }

    // MARK: Unloading

    @Test func messagesFarFromTheReaderAreUnloaded() async {
        await open(40)
        timeline.send(.reading(.scrolled(to: ScrollPosition(message: MessageID("m38"), offset: 0))))
        await send(.pages(.load(.older)))
        await send(.pages(.load(.older)))
        #expect(sees(29...40))
        timeline.send(.reading(.scrolled(to: ScrollPosition(message: MessageID("m30"), offset: 0))))
        await send(.pages(.load(.older)))
        #expect(sees(25...35) && harness.state.isDetached && harness.state.hasOlder)
        #expect(harness.mirrored == Array(timeline.rows))
    }

    /// A changed message updates only itself and its neighbors, however many are loaded.
    @Test(arguments: [2, 40, 400] as [Int64]) func changesUpdateOnlyAffectedRows(count: Int64) async {
        let other = TimelineHarness()
        await other.open((1...count).map { .of($0 * 10) })
        let last = Int(count)
        func changes(_ update: TimelineUpdate) async -> [TimelineChange] {
            other.forgetEffects()
            await other.publish(update)
            return other.effects.flatMap { effect -> [TimelineChange] in
                if case .changed(let changes) = effect { return changes }
                return []
            }
        }
        #expect(
            await changes(.changed([.of(count * 10 + 5)])) == [.update(last..<last + 1), .insert(last + 1..<last + 2)])
        #expect(await changes(.changed([.of(10, text: "other")])) == [.update(1..<2)])
        #expect(await changes(.changed([.of(15)])) == [.insert(2..<3)])
        #expect(await changes(.removed([MessageID("m15")])) == [.remove(2..<3)])
        #expect(other.mirrored == Array(other.timeline.rows))
    }

    // MARK: Replies

    private func reply(_ position: Int64, to target: Int64) -> Message {
        var message = Message.of(position)
        message.replyTo = MessageID("m\(target)")
        return message
    }

    @Test func replyShowsAndFollowsItsTarget() async {
        await harness.open([.of(1, text: "first\nsecond"), reply(2, to: 1)])
        let id = MessageID("m1")
        func quote() -> MessageItem.Quote? { harness.messages.last?.quote }
        #expect(quote() == .text(id, senderName: "Alex", words: "first…"))
        await harness.publish(.changed([.of(1, text: "other")]))
        #expect(quote() == .text(id, senderName: "Alex", words: "other"))
        await harness.publish(.changed([.of(1, text: "", isDeleted: true)]))
        #expect(quote() == .unavailable)
        #expect(service.calls.isEmpty)
    }

    @Test func unloadedReplyTargetIsRequestedOnce() async {
        service.known = { $0 == MessageID("m1") ? .of(1, text: "old") : nil }
        await harness.open([reply(8, to: 1), reply(9, to: 1), reply(10, to: 2)], hasOlder: true)
        await eventually { [harness] in
            harness.messages.allSatisfy { if case .loading = $0.quote { false } else { true } }
        }
        let old = MessageItem.Quote.text(MessageID("m1"), senderName: "Alex", words: "old")
        #expect(harness.messages.map(\.quote) == [old, old, .unavailable])
        #expect(service.calls == [.quoted([MessageID("m1"), MessageID("m2")])])
        await harness.publish(.changed([.of(1, text: "newer")]))
        #expect(harness.messages.first?.quote == .text(MessageID("m1"), senderName: "Alex", words: "newer"))
    }

    @Test("A reply target that could not be requested hides no other, and is requested again when the server is back")
    func failedReplyTargetIsRequestedAgain() async {
        service.known = { $0 == MessageID("m1") ? .of(1, text: "old") : $0 == MessageID("m2") ? .of(2) : nil }
        let unreached = MessageID("m2")
        service.before = { if case .quoted(let ids) = $0, ids.contains(unreached) { throw ChatError.unreachable } }
        await harness.open([reply(8, to: 1), reply(9, to: 2), reply(10, to: 3)], hasOlder: true)
        await eventually { [harness] in harness.messages.first?.quote != .loading(MessageID("m1")) }
        await waitUntilIdle()
        let old = MessageItem.Quote.text(MessageID("m1"), senderName: "Alex", words: "old")
        #expect(harness.messages.map(\.quote) == [old, .loading(unreached), .unavailable])
        service.before = { _ in }
        timeline.send(.context(.cameOnline))
        await eventually { [harness] in harness.messages[1].quote != .loading(unreached) }
        #expect(service.calls.last == .quoted([unreached]))
        timeline.send(.context(.cameOnline))
        await waitUntilIdle()
        #expect(service.calls.last == .quoted([unreached]) && service.calls.count == 5)
    }

    @Test func replyPassesTheMessageToTheComposer() async {
        await harness.open([.of(1, text: "what?"), .of(2, isDeleted: true)])
        timeline.send(.message(MessageID("m1"), .reply))
        timeline.send(.message(MessageID("m2"), .reply))
        let target = ReplyTarget(messageID: "m1", sender: "Alex", senderID: "other", preview: .text("what?"))
        #expect(harness.reported == [.reply(target)])
        timeline.send(.composer(.replyingTo(MessageID("m1"))))
        #expect(harness.reported == [.reply(target)], "it has the preview")
        await harness.publish(.changed([.of(1, text: "why?")]))
        await harness.publish(.removed([MessageID("m1")]))
        #expect(
            harness.reported.suffix(2) == [
                .replyTargetChanged(MessageID("m1"), .text("why?")), .replyTargetChanged(MessageID("m1"), .gone),
            ])
    }

    /// A restored draft may reply to a message that was changed or deleted meanwhile, loaded or not.
    @Test(arguments: [(1, true), (2, false), (3, true), (4, false), (5, true)] as [(Int64, Bool)])
    func restoredReplyTargetMayHaveChanged(_ answered: Int64, isGone: Bool) async {
        service.known = { id in
            switch id {
            case MessageID("m3"): .of(3, isDeleted: true)
            case MessageID("m4"): .of(4, text: "there")
            default: nil
            }
        }
        await harness.open([.of(1, isDeleted: true), .of(2)], hasOlder: true)
        let id = MessageID("m\(answered)")
        timeline.send(.composer(.replyingTo(id)))
        let preview = isGone ? ReplyTarget.Preview.gone : .text(answered > 2 ? "there" : "Text 2")
        await eventually { [harness] in harness.reported == [.replyTargetChanged(id, preview)] }
    }

    @Test func editingTheLastOwnMessageReturnsFromHistory() async {
        await open(12)
        await send(.pages(.jump(.message(MessageID("m3")))))
        service.pages = { _, _ in
            TimelinePage(messages: [.of(11, by: Fixtures.own), .of(12)], hasOlder: true, hasNewer: false)
        }
        await send(.composer(.editLast))
        #expect(harness.reported == [.edit(MessageID("m11"), EditableMessage(WrittenText("Text 11")))])
    }

    @Test func messageSentWhileReturningFromHistoryIsTheLastOne() async {
        await open(12)
        await send(.pages(.jump(.message(MessageID("m3")))))
        let gate = Gate()
        service.before = { if case .page = $0 { await gate.pass() } }
        service.pages = { _, _ in
            TimelinePage(messages: [.of(11, by: Fixtures.own), .of(12)], hasOlder: true, hasNewer: false)
        }
        timeline.send(.composer(.editLast))
        await eventually { gate.waiting == 1 }
        await harness.publish(.changed([.of(13, by: Fixtures.own, delivery: .sending)]))
        gate.open()
        await eventually { [harness] in !harness.reported.isEmpty }
        #expect(harness.reported == [.notEdited(.pending)])
    }
}
